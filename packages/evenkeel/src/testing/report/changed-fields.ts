/**
 * The fields in which two versions of an object differ, a line each: `spec.size: 1 → 2`.
 *
 * Values of Secrets are never shown.
 */
import { stringifyJson, type UnstructuredObject } from '#api'

const hidden = /^(?:data|stringData)\./
const uninteresting = /^metadata\.(?:managedFields|resourceVersion|generation)/

export function changedFields(
  before: UnstructuredObject | undefined,
  after: UnstructuredObject | undefined,
  { max, valueMax = 80 }: { readonly max: number; readonly valueMax?: number },
): string[] {
  const isSecret = (after ?? before)?.kind === 'Secret'
  const [old, now] = [flat(before), flat(after)]
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => old.get(name) !== now.get(name) && !uninteresting.test(name),
  )
  const shown = (value: string | undefined): string => (value === undefined ? 'nothing' : shortened(value, valueMax))
  const lines = names
    .slice(0, max)
    .map((name) =>
      isSecret && hidden.test(name)
        ? `${name}: another value`
        : `${name}: ${shown(old.get(name))} → ${shown(now.get(name))}`,
    )
  return names.length > max ? [...lines, `and ${names.length - max} more`] : lines
}

function flat(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    for (const [key, inner] of Object.entries(value)) flat(inner, path === '' ? key : `${path}.${key}`, into)
  else if (value !== undefined) into.set(path, stringifyJson(value))
  return into
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 3)}...` : text
}
