/**
 * Follows a JSON path through data.
 *
 * Invariants: never throws, whatever the data; visits a bounded number of values, so a path that descends again and
 * again cannot hold up a list. Nothing found (`[]`) differs from a step that makes no sense for the data
 * (`undefined`), because upstream shows neither but a filter tells them apart.
 */
import { getOwn, isJsonObject } from '#api'
import type { JsonPathFilter, JsonPath, JsonPathSlice, JsonPathStep } from './path.ts'

/** All matches in order; `undefined` when a step does not fit the data or there is too much to look at. */
export function findByJsonPath(path: JsonPath, data: unknown): readonly unknown[] | undefined {
  return follow(path, [data], { left: visitsMax })
}

type Found = readonly unknown[] | undefined

/** How many more values may be looked at. */
interface Budget {
  left: number
}

const visitsMax = 100_000

function follow(path: JsonPath, start: readonly unknown[], budget: Budget): Found {
  let found: Found = start
  for (const step of path) {
    found = take(step, found, budget)
    if (found === undefined) return undefined
    budget.left -= found.length
    if (budget.left < 0) return undefined
  }
  return found
}

function take(step: JsonPathStep, values: readonly unknown[], budget: Budget): Found {
  switch (step.type) {
    case 'field':
      return values.flatMap((value) => fieldOf(value, step.name))
    case 'wildcard':
      return values.flatMap(childrenOf)
    case 'descend':
      return descend(values, budget)
    case 'slice':
      return each(values.filter(isThere), (value) => sliceOf(value, step))
    case 'union':
      return each(step.paths, (path) => follow(path, values, budget))
    case 'filter':
      return each(values, (value) => filterItems(value, step, budget))
    case 'literal':
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value)
    default:
      return undefined
  }
}

/** The results of all, or none at all if one of them failed. */
function each<T>(items: readonly T[], find: (item: T) => Found): Found {
  const all: unknown[] = []
  for (const item of items) {
    const found = find(item)
    if (found === undefined) return undefined
    for (const value of found) all.push(value)
  }
  return all
}

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined
}

function fieldOf(value: unknown, name: string): unknown[] {
  const child = isJsonObject(value) ? getOwn(value, name) : undefined
  return child === undefined ? [] : [child]
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value).filter((child) => child !== undefined) : []
}

/** Each value before what is in it; without recursion, because data may be deep. */
function descend(values: readonly unknown[], budget: Budget): Found {
  const all: unknown[] = []
  const pending = [...values].reverse()
  while (pending.length > 0) {
    if (--budget.left < 0) return undefined
    const value = pending.pop()
    const children = childrenOf(value)
    // Upstream takes a text for a list of its bytes, so a text counts as something that has something in it.
    if (children.length === 0 && (typeof value !== 'string' || value === '')) continue
    all.push(value)
    for (const child of [...children].reverse()) pending.push(child)
  }
  return all
}

function sliceOf(value: unknown, { from = 0, to, step = 1, single }: JsonPathSlice): Found {
  if (!Array.isArray(value)) return undefined
  const begin = from < 0 ? from + value.length : from
  const end = endOf(value.length, { begin, to, single })
  if (begin === end) return []
  if (begin < 0 || begin >= value.length || end > value.length || begin > end || step <= 0) return undefined
  return value.slice(begin, end).filter((_, index) => index % step === 0)
}

function endOf(
  length: number,
  { begin, to, single }: { begin: number; to: number | undefined; single: boolean },
): number {
  if (single) return begin + 1
  if (to === undefined) return length
  return to < 0 ? to + length : to
}

function filterItems(value: unknown, { left, operator, right }: JsonPathFilter, budget: Budget): Found {
  if (!Array.isArray(value)) return undefined
  return each(value, (item: unknown) => {
    const lefts = follow(left, [item], budget)
    if (operator === 'exists') return lefts !== undefined && lefts.length > 0 ? [item] : []
    const rights = lefts && follow(right, [item], budget)
    if (lefts === undefined || rights === undefined || lefts.length > 1) return undefined
    if (lefts.length === 0 || rights.length === 0) return []
    const holds = rights.length > 1 ? undefined : compare(lefts[0], operator, rights[0])
    return holds === undefined ? undefined : holds ? [item] : []
  })
}

/** `undefined` when the two cannot be compared. */
function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  if (kindOf(left) !== kindOf(right) || kindOf(left) === undefined) return undefined
  if (operator === '==') return left === right
  if (operator === '!=') return left !== right
  return typeof left === 'boolean' ? undefined : comparisons.get(operator)?.(left as string, right as string)
}

const comparisons = new Map<string, (left: string, right: string) => boolean>([
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
])

/** What may be compared with what: whole numbers are another kind than fractions. */
function kindOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined
}
