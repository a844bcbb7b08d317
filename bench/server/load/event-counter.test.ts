import { describe, expect, test } from 'vitest'
import { EventCounter } from './event-counter.ts'

function event(name: string, type = 'ADDED'): string {
  return `{"type":"${type}","object":{"kind":"ConfigMap","metadata":{"name":"${name}"}}}\n`
}

function count(pieces: readonly string[]): { events: number; seen: number[]; opened: number } {
  const found = { events: 0, seen: [] as number[], opened: 0 }
  const counter = new EventCounter({
    opened: () => {
      found.opened++
    },
    counted: (events) => {
      found.events += events
    },
    namePrefix: 'run-',
    seen: (number) => {
      found.seen.push(number)
    },
  })
  counter.head(200)
  for (const piece of pieces) {
    const framed = Buffer.from(`xx${piece}\nyy\n`)
    counter.body(framed, 2, 2 + piece.length)
  }
  return found
}

describe('EventCounter', () => {
  const text = event('run-0000000001') + event('run-0000000002') + event('other-0000000003')

  test('counts events and reads the numbers of known objects', () => {
    expect(count([text])).toEqual({ events: 3, seen: [1, 2], opened: 1 })
  })

  test('counts the same for any chunks, and misses only a name that is split', () => {
    for (let place = 0; place <= text.length; place++) {
      const { events, seen } = count([text.slice(0, place), text.slice(place)])
      expect(events).toBe(3)
      expect([1, 2].filter((number) => !seen.includes(number)).length).toBeLessThanOrEqual(1)
    }
  })

  test('rejects events other than ADDED', () => {
    expect(() => count([event('run-0000000001') + event('', 'ERROR')])).toThrow('not a new object')
    expect(() => count([event('run-0000000001'), event('', 'BOOKMARK')])).toThrow('not a new object')
  })

  test('rejects a failed watch and one that ends', () => {
    const counter = new EventCounter({ opened: () => undefined, counted: () => undefined })
    expect(() => {
      counter.head(410)
    }).toThrow('410')
    expect(() => {
      counter.end()
    }).toThrow('ended a watch')
  })
})
