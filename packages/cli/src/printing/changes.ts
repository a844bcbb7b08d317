/**
 * What differs between two versions of an object, a path and both values each.
 */
import { isJsonObject } from 'evenkeel/api'
import type { JsonValue, KubeObject } from 'evenkeel/api'

/** Fields that differ by themselves with every write. */
const noise = new Set(['metadata.resourceVersion', 'metadata.managedFields'])

/** `spec.replicas 1 → 3`, in the order of the new object. */
export function changesBetween(old: KubeObject, next: KubeObject): readonly string[] {
  const changes: string[] = []
  compare(old as unknown as JsonValue, next as unknown as JsonValue, { path: '', changes })
  return changes
}

function compare(
  old: JsonValue | undefined,
  next: JsonValue | undefined,
  { path, changes }: { path: string; changes: string[] },
): void {
  if (noise.has(path) || JSON.stringify(old) === JSON.stringify(next)) return
  if (isJsonObject(old) && isJsonObject(next)) {
    for (const name of new Set([...Object.keys(next), ...Object.keys(old)]))
      compare(old[name], next[name], { path: path === '' ? name : `${path}.${name}`, changes })
  } else if (Array.isArray(old) && Array.isArray(next) && old.length === next.length) {
    for (const [index, value] of next.entries())
      compare(old[index], value, { path: `${path}[${nameOf(value) ?? index}]`, changes })
  } else changes.push(`${path} ${shortOf(old)} → ${shortOf(next)}`)
}

/** Entries of lists are known by what they are called, not by their place. */
function nameOf(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined
  const name = value['name'] ?? value['type']
  return typeof name === 'string' ? name : undefined
}

function shortOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
