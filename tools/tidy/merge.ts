/**
 * Files that belong into another file: exactly one file imports them, and they have no test of their own.
 *
 * Such a file costs a header, an import list and a jump, and gains nothing. It stays separate when the two together
 * would be too long, when it is loaded on demand, or when rules.ts gives a reason.
 */
import { posix } from 'node:path'
import { findingAt, layerOf, resolveImport, type Finding, type House, type HouseFile } from './house.ts'
import { importsOf } from './imports.ts'
import { limits, ownReason } from './rules.ts'

export function checkMerges(house: House): Finding[] {
  const importers = importersOf(house)
  return [...house.files.values()]
    .filter((file) => isCandidate(house, file))
    .flatMap((file) => {
      const [only, ...others] = importers.get(file.path) ?? []
      if (only === undefined || others.length > 0 || only === 'on demand') return []
      return fits(house, file.path, only)
        ? [findingAt(file, 0, `only ${only} imports this file: merge it into that one`)]
        : []
    })
}

function isCandidate(house: House, { path, isTest, isFixture }: HouseFile): boolean {
  if (layerOf(path) === undefined || layerOf(path) === 'public' || isTest || isFixture) return false
  if (posix.basename(path) === 'index.ts' || path.includes('/generated/')) return false
  if (ownReason.some(([file]) => file.test(path))) return false
  return !house.files.has(path.replace(/\.ts$/, '.test.ts'))
}

/** The importers of a file, without tests, fixtures and the index of a layer. Other layers import through the index. */
function importersOf(house: House): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>()
  for (const file of house.files.values()) {
    if (file.isTest || file.isFixture) continue
    for (const { specifier, isReexport, names, node } of importsOf(file)) {
      const target = specifier.startsWith('.') ? resolveImport(house, file.path, specifier) : undefined
      if (target === undefined) continue
      const isOnDemand = names === 'all' && !isReexport && node.getText().startsWith('import(')
      const from = isReexport && posix.basename(file.path) === 'index.ts' ? 'the layers above' : file.path
      append(importers, target, isOnDemand ? 'on demand' : from)
    }
  }
  return importers
}

function append(importers: Map<string, Set<string>>, target: string, from: string): void {
  const set = importers.get(target)
  if (set) set.add(from)
  else importers.set(target, new Set([from]))
}

function fits(house: House, one: string, other: string): boolean {
  const lines = (path: string): number => house.files.get(path)?.source.text.split('\n').length ?? Infinity
  return lines(one) + lines(other) <= limits.fileLines
}
