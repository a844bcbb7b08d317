import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ago,
  changesBetween,
  changesByApply,
  duration,
  formatTable,
  ProgressLine,
  safeLine,
  safeText,
} from './terminal.ts'

// eslint-disable-next-line no-control-regex -- matches characters that must not appear
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

describe('safeText', () => {
  test('removes control characters and keeps printable text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !unsafe.test(safeText(text))))
    expect(safeText('a\tb\r\nc ü 語')).toBe('a\tb\nc ü 語')
  })
})

describe('formatTable', () => {
  test('has one line per row, whatever the cells contain', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string())), (rows) => {
        const text = formatTable(['A', 'B'], rows, { columns: 40 })
        return (
          text.split('\n').length === rows.length + 2 &&
          !unsafe.test(text) &&
          text.split('\n').every((line) => line.length <= 40)
        )
      }),
    )
  })
})

describe('duration', () => {
  test.each([
    [0, '0s'],
    [1499, '1s'],
    [65_000, '1m5s'],
    [3_600_000, '1h'],
    [90_000_000, '1d1h'],
    [-5, '0s'],
    [36_000_000, '10h'],
  ])('%d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })

  test('an invalid time has no age', () => {
    expect(ago('yesterday', 0)).toBe('')
  })
})

describe('changesBetween', () => {
  test('lists the changed fields, list entries by name, without fields that change with every write', () => {
    const old = {
      apiVersion: 'v1',
      kind: 'A',
      metadata: { name: 'a', resourceVersion: '1' },
      spec: { on: true, list: [{ name: 'x', n: 1 }] },
    }
    const next = {
      apiVersion: 'v1',
      kind: 'A',
      metadata: { name: 'a', resourceVersion: '2' },
      spec: { on: false, list: [{ name: 'x', n: 2 }], more: 'b' },
    }
    expect(changesBetween(old as never, next as never)).toEqual([
      'spec.on true → false',
      'spec.list[x].n 1 → 2',
      'spec.more nothing → "b"',
    ])
  })
})

describe('changesByApply', () => {
  const given = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, spec: { on: true } }
  const old = { ...given, metadata: { name: 'a', resourceVersion: '1' } }
  const reported = { ...old, metadata: { name: 'a', resourceVersion: '2', finalizers: ['x/y'] }, status: { lit: true } }

  test('leaves out what a controller wrote between the read and the apply', () => {
    expect(changesByApply(given as never, old as never, reported as never)).toEqual([])
    expect(changesByApply(given as never, old as never, { ...reported, spec: { on: false } } as never)).toEqual([
      'spec.on true → false',
    ])
  })

  test('has a status and finalizers that the apply names', () => {
    const named = { ...given, metadata: { name: 'a', finalizers: ['x/y'] }, status: { lit: true } }
    expect(changesByApply(named as never, old as never, reported as never)).toEqual([
      'metadata.finalizers nothing → ["x/y"]',
      'status nothing → {"lit":true}',
    ])
  })
})

describe('ProgressLine', () => {
  test('draws at most ten times a second, only in a terminal, and is cleared afterwards', () => {
    const written: string[] = []
    let now = 0
    const line = new ProgressLine(
      { write: (text: string) => written.push(text), isTTY: true, columns: 10 },
      { monotonic: () => now },
    )
    for (now = 0; now < 250; now += 10) line.show(() => 'a line that is too long')
    line.clear()
    expect(written).toEqual(
      ['\r\u001b[Ka line th', '\r\u001b[Ka line th', '\r\u001b[Ka line th', '\r\u001b[K'].map((text) =>
        text.replace('a line th', 'a line tha'.slice(0, 9)),
      ),
    )
    const silent = new ProgressLine({ write: (text: string) => written.push(text) }, { monotonic: () => now })
    silent.show(() => 'a')
    silent.clear()
    expect(written).toHaveLength(4)
  })
})

describe('row 7: text that changes the direction of writing or forges lines', () => {
  test('no bidi control, line or paragraph separator reaches the terminal', () => {
    const bidi = ['\u061c', '\u200e', '\u200f', '\u2028', '\u2029', '\u202a', '\u202e', '\u2066', '\u2069']
    for (const each of bidi) {
      expect(safeText(`a${each}b`)).toBe('a·b')
      expect(safeLine(`a${each}b`)).toMatch(/^a[· ]b$/)
      expect(formatTable(['name'], [[`a${each}b`]])).toMatch(/^NAME\na[· ]b\n$/)
    }
  })

  test('a line stays one line', () => {
    expect(safeLine('ok\r\n2026 W root: forged\n')).toBe('ok 2026 W root: forged ')
  })
})
