/**
 * Managed fields as sets of paths, for tests about ownership. A path is the JSON text of its steps.
 */
import { getOwn, isJsonObject } from '#api'
import type { JsonObject, JsonValue, ManagedFieldsEntry } from '#api'

type Paths = ReadonlySet<string>

/** Every member of a `fieldsV1` set. */
export function pathsOf(fields: JsonObject | undefined): Paths {
  const paths = new Set<string>()
  const walk = (node: JsonObject, steps: readonly string[]): void => {
    const names = Object.keys(node)
    if (steps.length > 0 && (names.length === 0 || names.includes('.'))) paths.add(JSON.stringify(steps))
    for (const name of names) if (name !== '.') walk(node[name] as JsonObject, [...steps, name])
  }
  if (fields) walk(fields, [])
  return paths
}

/** Members without children. */
export function leavesOf(fields: JsonObject | undefined): string[] {
  const all = [...pathsOf(fields)]
  return all.filter((path) => !all.some((other) => other !== path && other.startsWith(`${path.slice(0, -1)},`)))
}

export function stepsOf(path: string): string[] {
  return JSON.parse(path) as string[]
}

/** The fields of all entries except those of one manager. */
export function ownedByOthers(
  entries: readonly ManagedFieldsEntry[],
  isMine: (entry: ManagedFieldsEntry) => boolean,
): Paths {
  return new Set(entries.filter((entry) => !isMine(entry)).flatMap(({ fieldsV1 }) => [...pathsOf(fieldsV1)]))
}

/** The value at a path of plain fields; undefined for other paths and missing values. */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const step of stepsOf(path))
    value = step.startsWith('f:') && isJsonObject(value) ? getOwn(value, step.slice(2)) : undefined
  return value
}
