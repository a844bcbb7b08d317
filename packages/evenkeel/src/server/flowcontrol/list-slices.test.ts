import { expect, test } from 'vitest'
import { ListSlices } from './work-scheduler.ts'

/** How many of so many objects of that size are looked into before each pause. */
async function sharesOf(count: number, bytes: number, { msEach = 0 } = {}): Promise<number[]> {
  let nowMs = 0
  const shares = [0]
  const share = new ListSlices({
    scheduler: { pause: () => Promise.resolve() },
    clock: { monotonic: () => nowMs },
    request: { signal: new AbortController().signal },
  })
  for (let index = 0; index < count; index++) {
    const pausing = share.add(bytes)
    if (pausing) {
      shares.push(0)
      await pausing
    }
    shares.push((shares.pop() ?? 0) + 1)
    nowMs += msEach
  }
  return shares
}

test('row 21: Share pauses after so many objects, so many bytes, or so long', async () => {
  expect(await sharesOf(2500, 100)).toEqual([1000, 1000, 500])
  expect(await sharesOf(7, 400_000)).toEqual([3, 3, 1])
  expect(await sharesOf(100, 100, { msEach: 0.1 })).toEqual([32, 32, 32, 4])
})

test('Share never pauses for what is short', async () => {
  expect(await sharesOf(1000, 100)).toEqual([1000])
  expect(await sharesOf(1, 3_000_000)).toEqual([1])
})

test('Share ends the work when nobody waits for it any more', async () => {
  const leaving = new AbortController()
  const share = new ListSlices({
    scheduler: { pause: () => Promise.resolve() },
    clock: { monotonic: () => 0 },
    request: { signal: leaving.signal },
  })
  void share.add(2_000_000)
  leaving.abort(new Error('gone'))
  await expect(share.add(1)).rejects.toThrow('gone')
})
