/**
 * Checks that the results of many clients fit into one order, the order of revisions, that does not contradict real
 * time.
 *
 * Revisions are the order. It remains to check that every result is what that order gives, and that an
 * operation that returned before another was called does not come after it.
 * `called` and `returned` are ticks of one counter, not times.
 */
import { isDeepStrictEqual } from 'node:util'
import { StoreModel } from '../model/store-model.ts'
import type { PlainEntry } from '../model/store-model.ts'

interface Moment {
  readonly client: number
  readonly called: number
  readonly returned: number
  readonly key: string
}

export type Operation =
  | (Moment & { readonly type: 'read'; readonly revision: number; readonly entry: PlainEntry | undefined })
  | (Moment & {
      readonly type: 'made'
      readonly revision: number
      readonly expect: number
      readonly value: string | undefined
    })
  | (Moment & { readonly type: 'lost'; readonly expect: number; readonly current: PlainEntry | undefined })

type Made = Extract<Operation, { type: 'made' }>

/** The faults of a history, one sentence each; empty when it is linearizable. */
export function linearizabilityFaults(operations: readonly Operation[], startRevision: number): string[] {
  const made = operations.filter((operation) => operation.type === 'made').sort((a, b) => a.revision - b.revision)
  const faults: string[] = []
  const model = new StoreModel(startRevision)
  for (const commit of made) {
    if (commit.revision <= model.head) faults.push(`${describe(commit)} has a revision that is not above ${model.head}`)
    const current = model.get(commit.key)?.revision ?? 0
    if (current !== commit.expect)
      faults.push(`${describe(commit)} succeeded although the key was at ${current}, not at ${commit.expect}`)
    model.commit(
      [{ key: commit.key, ...(commit.value !== undefined && { value: Buffer.from(commit.value, 'latin1') }) }],
      commit.revision,
    )
  }
  for (const operation of operations) faults.push(...faultsOf(operation, { operations, made, model }))
  return faults
}

interface Order {
  readonly operations: readonly Operation[]
  readonly made: readonly Made[]
  readonly model: StoreModel
}

function faultsOf(operation: Operation, { operations, made, model }: Order): string[] {
  const before = operations.filter(({ returned }) => returned < operation.called)
  const floor = Math.max(0, ...before.map((other) => ('revision' in other ? other.revision : 0)))
  const ceiling =
    Math.min(Infinity, ...made.filter(({ called }) => called > operation.returned).map(({ revision }) => revision)) - 1
  if (operation.type === 'lost')
    return couldHaveLost(operation, { floor, ceiling, model })
      ? []
      : [`${describe(operation)} lost although the key never had the reported state`]
  const faults: string[] = []
  const least = operation.type === 'made' ? floor + 1 : floor
  if (operation.revision < least)
    faults.push(
      `${describe(operation)} is at ${operation.revision}, before ${floor}, which had been seen when it was called`,
    )
  if (operation.revision > ceiling)
    faults.push(
      `${describe(operation)} is at ${operation.revision}, after ${ceiling + 1}, which was only called when it had returned`,
    )
  if (operation.type === 'read' && !isDeepStrictEqual(operation.entry, model.get(operation.key, operation.revision))) {
    faults.push(
      `${describe(operation)} saw ${JSON.stringify(operation.entry)} at ${operation.revision}, where ${JSON.stringify(model.get(operation.key, operation.revision))} was`,
    )
  }
  return faults
}

/** Whether the key, at some moment of the call, had the reported state and not the expected one. */
function couldHaveLost(
  { key, expect, current }: Extract<Operation, { type: 'lost' }>,
  { floor, ceiling, model }: { floor: number; ceiling: number; model: StoreModel },
): boolean {
  if ((current?.revision ?? 0) === expect) return false
  const moments = [floor, ...model.revisions.filter((revision) => revision > floor && revision <= ceiling)]
  return moments.some((revision) => isDeepStrictEqual(model.get(key, revision), current))
}

function describe({ type, client, key, called, returned }: Operation): string {
  return `${type} of ${key} by client ${client} (${called} to ${returned})`
}
