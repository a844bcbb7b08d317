/**
 * The owners of the fields of an object as short text: `metadata.managedFields` in readable form.
 */
import type { Loose } from './answer.ts'

interface ManagedEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time?: string
  readonly fieldsType: string
  readonly fieldsV1: FieldsV1
  readonly subresource?: string
}

interface FieldsV1 {
  readonly [key: string]: FieldsV1
}

export function entriesOf(object: Loose): readonly ManagedEntry[] {
  return (object.metadata['managedFields'] as readonly ManagedEntry[] | undefined) ?? []
}

/** Every entry as `manager Operation` or `manager Operation subresource`, in the order of the object. */
export function managersOf(object: Loose): string[] {
  return entriesOf(object).map(({ manager, operation, subresource }) =>
    [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(' '),
  )
}

/** Every manager with the paths it owns: `{ 'a Apply': ['.spec.x', '.spec.list[name="y"]'] }`. */
export function ownersOf(object: Loose): Record<string, string[]> {
  const names = managersOf(object)
  return Object.fromEntries(entriesOf(object).map(({ fieldsV1 }, index) => [names[index] ?? '', pathsOf(fieldsV1)]))
}

/** The paths that are members of a field set, in text order. */
function pathsOf(fields: FieldsV1, at = ''): string[] {
  return Object.entries(fields)
    .flatMap(([key, below]) => {
      if (key === '.') return [at]
      const path = `${at}${stepOf(key)}`
      return Object.keys(below).length === 0 ? [path] : pathsOf(below, path)
    })
    .sort()
}

/** `f:spec` is `.spec`, `k:{"name":"x"}` is `[name="x"]`, `v:"x"` is `["x"]`. */
function stepOf(key: string): string {
  const [kind, rest] = [key.slice(0, 2), key.slice(2)]
  if (kind === 'f:') return `.${rest}`
  if (kind !== 'k:') return `[${rest}]`
  return `[${Object.entries(JSON.parse(rest) as Record<string, unknown>)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`
}
