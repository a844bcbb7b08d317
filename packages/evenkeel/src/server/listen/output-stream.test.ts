import { Writable } from 'node:stream'
import { assert, describe, expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import { OutputStream } from './output-stream.ts'
import { turn } from './turns.fixture.ts'

/** A writable that takes nothing until told to. */
function make(): { outlet: OutputStream; clock: SimulatedClock; stream: Writable; taken: string[]; take: () => void } {
  const taken: string[] = []
  const pending: (() => void)[] = []
  const stream = new Writable({
    highWaterMark: 10,
    write: (chunk: Buffer, _encoding, done) => {
      taken.push(chunk.toString())
      pending.push(done)
    },
  })
  const clock = new SimulatedClock()
  return {
    outlet: new OutputStream(stream, clock),
    clock,
    stream,
    taken,
    take: () => {
      pending.shift()?.()
    },
  }
}

describe('OutputStream', () => {
  test('sendStream waits while the other side does not take, and says since when', async () => {
    const { outlet, clock, taken, take } = make()
    await clock.advance(5)
    let asked = 0
    const sent = outlet.sendStream(
      numbers(3, () => {
        asked++
      }),
      (piece) => Buffer.from(`<${piece.toString()}>`),
    )
    for (let turns = 0; turns < 5; turns++) await turn()
    expect([asked, taken]).toEqual([1, ['<0000000000>']])
    expect([outlet.isStalledSince(4), outlet.isStalledSince(5)]).toEqual([false, true])
    for (let turns = 0; turns < 12; turns++) {
      take()
      await turn()
    }
    expect(await sent).toBe(true)
    expect(taken).toHaveLength(3)
    assert.isFalse(outlet.isStalledSince(Number.MAX_SAFE_INTEGER))
  })

  test('sendStream leaves the loop and resolves false when the other side goes', async () => {
    const { outlet, stream } = make()
    let isLeft = false
    const sent = outlet.sendStream(
      numbers(
        9,
        () => undefined,
        () => {
          isLeft = true
        },
      ),
      (piece) => piece,
    )
    await turn()
    stream.destroy()
    expect(await sent).toBe(false)
    await turn()
    assert(isLeft)
    expect(await outlet.waitForRoom()).toBe(false)
    expect(
      await outlet.sendStream(
        numbers(9, () => undefined),
        (piece) => piece,
      ),
    ).toBe(false)
  })

  test('sendStream leaves the loop of a stream that is destroyed and not closed yet', async () => {
    const { outlet, stream } = make()
    const next = deferred<undefined>()
    let isLeft = false
    const body = async function* (): AsyncGenerator<Uint8Array> {
      try {
        await next.promise
        yield Buffer.from('too late')
        yield Buffer.from('never')
      } finally {
        isLeft = true
      }
    }
    const sent = outlet.sendStream(body(), (piece) => piece)
    await turn()
    stream.destroy()
    next.resolve(undefined)
    expect(await sent).toBe(false)
    for (let turns = 0; turns < 3; turns++) await turn()
    assert(isLeft)
  })

  test('sendAll sends all pieces in order, or resolves false', async () => {
    const { outlet, taken, take, stream } = make()
    const sent = outlet.sendAll([Buffer.from('a'), Buffer.from(''), Buffer.from('b')])
    await turn()
    take()
    await turn()
    take()
    expect(await sent).toBe(true)
    expect(taken.join('')).toBe('ab')
    const lost = outlet.sendAll([Buffer.alloc(20), Buffer.alloc(20)])
    stream.destroy()
    expect(await lost).toBe(false)
  })
})

async function* numbers(
  count: number,
  onAsked: () => void,
  onLeft: () => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for (let number = 0; number < count; number++) {
      onAsked()
      yield await Promise.resolve(Buffer.from(String(number).repeat(10)))
    }
  } finally {
    onLeft()
  }
}
