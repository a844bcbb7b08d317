import { describe, expect, test } from 'vitest'
import { BodyPieces } from './body-pieces.ts'

function make(): { body: BodyPieces; events: string[] } {
  const events: string[] = []
  const body = new BodyPieces({
    onFull: () => events.push('full'),
    onRoom: () => events.push('room'),
    onLeft: () => events.push('left'),
  })
  return { body, events }
}

describe('BodyPieces', () => {
  test('gives pieces in order, waits for the next, and ends', async () => {
    const { body, events } = make()
    body.push(Buffer.from('a'))
    body.push(Buffer.from('b'))
    expect([String((await body.next()).value), String((await body.next()).value)]).toEqual(['a', 'b'])
    const waiting = body.next()
    body.push(Buffer.from('c'))
    expect(String((await waiting).value)).toBe('c')
    body.end()
    expect([await body.next(), events]).toEqual([{ done: true, value: undefined }, []])
  })

  test('pauses the source above 1 MiB and resumes it when half of that is read', async () => {
    const { body, events } = make()
    for (let count = 0; count < 5; count++) body.push(Buffer.alloc(262_144))
    expect(events).toEqual(['full'])
    await body.next()
    await body.next()
    expect(events).toEqual(['full'])
    await body.next()
    expect(events).toEqual(['full', 'room'])
    body.push(Buffer.alloc(1_000_000))
    expect(events).toEqual(['full', 'room', 'full'])
  })

  test('as a whole it needs no pause', async () => {
    const { body, events } = make()
    body.push(Buffer.alloc(2_000_000))
    const whole = body.whole()
    expect(events).toEqual(['full', 'room'])
    body.push(Buffer.alloc(2_000_000))
    body.end()
    expect([(await whole).length, events]).toEqual([4_000_000, ['full', 'room']])
  })

  test('an error ends it at once, also for a reader that waits', async () => {
    const { body } = make()
    body.push(Buffer.from('lost'))
    body.fail(new Error('cut off'))
    await expect(body.next()).rejects.toThrow('cut off')
    const { body: other } = make()
    const waiting = other.next()
    other.fail(new Error('cut off'))
    other.fail(new Error('again'))
    await expect(waiting).rejects.toThrow('cut off')
  })

  test('an error after the end changes nothing', async () => {
    const { body } = make()
    body.push(Buffer.from('a'))
    body.end()
    body.fail(new Error('too late'))
    expect(String(await body.whole())).toBe('a')
  })

  test('a reader that leaves early is reported once; one that leaves at the end is not', async () => {
    const { body, events } = make()
    body.push(Buffer.from('a'))
    await body.return()
    body.push(Buffer.from('b'))
    await body.return()
    expect([events, await body.next()]).toEqual([['left'], { done: true, value: undefined }])
    const { body: ended, events: none } = make()
    ended.end()
    await ended.return()
    expect(none).toEqual([])
  })
})
