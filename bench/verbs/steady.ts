/**
 * Writes without any change: parents with their children, over a minute of simulated time.
 */
import { startTestPlane } from 'evenkeel/testing'
import type { BenchOptions } from '../print.ts'
import { countName } from '../server/plan.ts'
import { Parent } from './kinds.ts'
import { childrenEach, parentController } from './parents.ts'
import { createAll, moving, revisionOf } from './stage.ts'

const namespace = 'default'

export async function steadyBench({ only, quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 100 : 10_000
  const name = `steady minute of ${countName(count)} parents`
  if (!name.includes(only)) return
  await using plane = await startTestPlane({ controllers: [{ ...parentController, concurrency: 16 }], simulated: true })
  const { client } = plane
  const revision = (): Promise<number> => moving(plane, revisionOf(client, Parent, namespace))
  const first = await revision()
  await moving(plane, createAll(client, Parent, { namespace, count, spec: { text: 'x' } }))
  let before = first
  // Until a second without writes.
  for (let last = -1; before !== last;) {
    last = before
    await plane.advance(1000)
    before = await revision()
  }
  await plane.advance(60_000)
  const writes = (await revision()) - before
  const { items } = await moving(plane, client.list(Parent, { namespace }))
  const made = items.filter(({ status }) => status?.made === childrenEach).length
  if (made !== count) throw new Error(`${made} of ${count} parents have their children`)
  print({
    case: name,
    ours: writes,
    peer: undefined,
    peerName: 'no peer',
    unit: 'writes',
    lessIsBetter: true,
    more: { 'writes per parent before': (before - first) / count - 1, minimum: childrenEach + 1 },
  })
}
