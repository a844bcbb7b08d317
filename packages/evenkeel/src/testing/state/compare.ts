/**
 * How two snapshots differ: what is there too often, what is missing, what is otherwise.
 */
import type { Snapshot } from './normalize.ts'

export interface Difference {
  readonly type: 'extra' | 'missing' | 'changed'
  readonly about: string
  readonly expected: readonly string[]
  readonly found: readonly string[]
}

/** What is drawn by chance: places (`Secret default/a data.password`) that differ although nothing else does. */
export type RandomPaths = ReadonlySet<string>

/** The places in which two undisturbed schedules differ that had other chances. */
export function randomPathsBetween(one: Snapshot, other: Snapshot): Set<string> {
  const found = new Set<string>()
  for (const { about, expected, found: values, type } of compareSnapshots(one, other)) {
    if (type !== 'changed') continue
    for (const [index, value] of expected.entries())
      for (const path of differingPaths(value, values[index] ?? 'null')) found.add(`${about} ${path}`)
  }
  return found
}

function differingPaths(one: string, other: string): string[] {
  const [first, second] = [flatten(JSON.parse(one)), flatten(JSON.parse(other))]
  return [...new Set([...first.keys(), ...second.keys()])].filter((path) => first.get(path) !== second.get(path))
}

/** @param chance what may differ */
export function compareSnapshots(expected: Snapshot, found: Snapshot, chance?: RandomPaths): Difference[] {
  const differences: Difference[] = []
  for (const about of new Set([...expected.keys(), ...found.keys()])) {
    const [wanted, have] = [expected.get(about) ?? [], found.get(about) ?? []]
    if (wanted.length === have.length && wanted.every((value, index) => value === have[index])) continue
    if (
      chance &&
      chance.size > 0 &&
      wanted.length === have.length &&
      wanted.every((value, index) => without(value, about, chance) === without(have[index] ?? '', about, chance))
    )
      continue
    const type = have.length > wanted.length ? 'extra' : have.length < wanted.length ? 'missing' : 'changed'
    differences.push({ type, about, expected: wanted, found: have })
  }
  return differences
}

function without(value: string, about: string, chance: RandomPaths): string {
  return JSON.stringify([...flatten(JSON.parse(value))].filter(([path]) => !chance.has(`${about} ${path}`)))
}

/** A few lines for people: what was expected and what was found. */
export function describeDifference({ type, expected, found }: Difference): string[] {
  if (type === 'extra') return [`expected ${expected.length}, found ${found.length}`]
  if (type === 'missing') return [`expected ${expected.length}, found ${found.length}`]
  const [wanted, have] = [
    flatten(JSON.parse(expected.find((value) => !found.includes(value)) ?? 'null')),
    flatten(JSON.parse(found.find((value) => !expected.includes(value)) ?? 'null')),
  ]
  const lines: string[] = []
  for (const path of new Set([...wanted.keys(), ...have.keys()])) {
    if (wanted.get(path) === have.get(path)) continue
    lines.push(`${path}: expected ${wanted.get(path) ?? 'nothing'}, found ${have.get(path) ?? 'nothing'}`)
  }
  return lines.slice(0, 6)
}

function flatten(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    into.set(path || 'value', JSON.stringify(value))
  else
    for (const [key, inner] of Object.entries(value))
      flatten(inner, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, into)
  return into
}
