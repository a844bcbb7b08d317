import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonLines, prettyLines, type Fields, type LogRecord } from './log.ts'

const record = (fields: Fields = {}, message = 'hello'): LogRecord => ({
  level: 'warn',
  timeMs: 1_767_225_600_123,
  message,
  fields,
})

function json(fields: Fields, message?: string): { text: string; line: Record<string, unknown> } {
  let text = ''
  jsonLines((written) => {
    text += written
  })(record(fields, message))
  return { text, line: JSON.parse(text) as Record<string, unknown> }
}

function pretty(fields: Fields, { message = 'hello', color = false } = {}): string {
  let text = ''
  prettyLines(
    (written) => {
      text += written
    },
    { color },
  )(record(fields, message))
  return text
}

/** Everything that could move a cursor, recolour a screen or begin another line. */
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/

const nasty = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\u2028', '\u2029', '\ud800', '"', '\\'),
  ),
})

const circular: Record<string, unknown> = { name: 'loop' }
circular['self'] = circular

describe('jsonLines', () => {
  test('writes time, level and message, then the fields', () => {
    const { text, line } = json({ kind: 'Pod', count: 3 })
    expect(text).toBe('{"time":"2026-01-01T00:00:00.123Z","level":"warn","msg":"hello","kind":"Pod","count":3}\n')
    expect(Object.keys(line)).toEqual(['time', 'level', 'msg', 'kind', 'count'])
  })

  test('writes an error with its message, stack and cause', () => {
    const { line } = json({ error: new Error('outer', { cause: new Error('inner') }) })
    expect(line['error']).toMatchObject({ message: 'outer', cause: { message: 'inner' } })
    expect((line['error'] as Error).stack).toContain('log-lines.test.ts')
  })

  test('F1: writes the place of an error each time, and its stack once, with the lines of the program and the causes', () => {
    const lines: { error: Record<string, unknown>; retries: number }[] = []
    const write = jsonLines((text) => lines.push(JSON.parse(text) as (typeof lines)[number]))
    const error = new TypeError('outer', { cause: new Error('inner') })
    for (const retries of [1, 2]) write(record({ error, retries }))
    write(record({ error: new Error('another') }))
    const at = expect.stringMatching(/log-lines\.test\.ts:\d+$/) as string
    expect(lines.map(({ error: shown }) => shown)).toEqual([
      {
        message: 'outer',
        at,
        stack: expect.stringMatching(
          /^TypeError: outer\n {4}at \S*log-lines\.test\.ts:\d+:\d+\n[^]*\n {2}caused by Error: inner\n/,
        ) as string,
        cause: { message: 'inner', at },
      },
      { message: 'outer', at, cause: { message: 'inner', at } },
      { message: 'another', at, stack: expect.stringContaining('Error: another\n') as string },
    ])
    expect(JSON.stringify(lines)).not.toContain('node_modules')
  })

  test('writes cycles, bigints and what is in two places', () => {
    const shared = { x: 1 }
    const { line } = json({ circular, big: 10n ** 20n, list: [shared, shared], deep: { a: { b: { c: shared } } } })
    expect(line).toMatchObject({
      msg: 'hello',
      circular: { name: 'loop', self: '[circular]' },
      big: '100000000000000000000',
      list: [{ x: 1 }, { x: 1 }],
      deep: { a: { b: { c: { x: 1 } } } },
    })
  })

  test('writes an error that is its own cause', () => {
    const error = new Error('ouroboros')
    error.cause = error
    const around: Record<string, unknown> = {}
    around['error'] = new Error('inside', { cause: around })
    const { line } = json({ error, around })
    expect(line).toMatchObject({
      msg: 'hello',
      error: { message: 'ouroboros', cause: '[circular]' },
      around: { error: { message: 'inside', cause: '[circular]' } },
    })
  })

  test('is one line without control characters that means the same, whatever is in it', () => {
    fc.assert(
      fc.property(nasty, fc.dictionary(nasty, nasty), (message, fields) => {
        const { text, line } = json({ fields }, message)
        expect(text.slice(0, -1)).not.toMatch(control)
        expect(text.slice(0, -1)).not.toContain('\n')
        expect(text.endsWith('\n')).toBe(true)
        expect([line['msg'], { ...(line['fields'] as object) }]).toEqual([
          JSON.parse(JSON.stringify(message)),
          { ...(JSON.parse(JSON.stringify(fields)) as object) },
        ])
      }),
    )
  })

  test('never throws, whatever the fields do', () => {
    expect(() =>
      json({
        nasty: {
          toJSON: () => {
            throw new Error('no')
          },
        },
      }),
    ).not.toThrow()
    expect(() =>
      json({
        nasty: {
          get x() {
            throw new Error('no')
          },
        },
      }),
    ).not.toThrow()
  })
})

describe('prettyLines', () => {
  test('writes the time of day, the level, the message and pairs', () => {
    expect(pretty({ kind: 'Pod', count: 3, text: 'two words', empty: '', quoted: 'a"b' })).toBe(
      '00:00:00.123 warn  hello kind=Pod count=3 text="two words" empty="" quoted="a\\"b"\n',
    )
  })

  test('writes errors by their message, and what has no JSON by its name', () => {
    expect(pretty({ error: new Error('it broke'), nothing: undefined, none: null, list: [1, 2], circular })).toMatch(
      /^00:00:00\.123 warn {2}hello error="it broke" at=\S+log-lines\.test\.ts:\d+ nothing=undefined none=null list=\[1,2\] circular=\{"name":"loop","self":"\[circular\]"\}\n$/,
    )
  })

  test('F1: writes the stack of an error below its line, once, with its causes', () => {
    const lines: string[] = []
    const write = prettyLines((text) => lines.push(text), { color: false })
    const error = new Error('outer', { cause: new Error('inner\u001b[31m') })
    for (const retries of [1, 2]) write({ ...record({ error, retries }), level: 'error' })
    write({ ...record({ error: new Error('another') }), level: 'error' })
    expect(lines[0]).toMatch(
      /^00:00:00\.123 error hello error="outer" at=\S+log-lines\.test\.ts:\d+ retries=1\n {4}Error: outer\n {8}at .*log-lines\.test\.ts:\d+:\d+\)?\n[^]* {6}caused by Error: inner\\u001b\[31m\n/,
    )
    expect(lines[1]).toMatch(/^00:00:00\.123 error hello error="outer" at=\S+ retries=2\n$/)
    expect(lines[2]).toContain('\n    Error: another\n')
  })

  test('colours the level by what it is, and only if asked', () => {
    const esc = '\u001b['
    expect(pretty({ a: 1 }, { color: true })).toBe(
      `${esc}90m00:00:00.123${esc}39m ${esc}33mwarn ${esc}39m hello ${esc}90ma=${esc}39m1\n`,
    )
    expect(pretty({ a: 1 })).not.toContain(esc)
    const levels = (['debug', 'info', 'warn', 'error'] as const).map((level) => {
      let text = ''
      prettyLines((written) => {
        text = written
      })({ ...record(), level })
      return text.split(esc)[3]?.slice(0, 3)
    })
    expect(levels).toEqual(['90m', '36m', '33m', '31m'])
  })

  test('is one line without control characters, whatever is in it', () => {
    fc.assert(
      fc.property(nasty, nasty, nasty, (message, name, value) => {
        const text = pretty({ [name]: value, error: new Error(value) }, { message })
        expect(text.slice(0, -1)).not.toMatch(control)
        expect(text.slice(0, -1)).not.toContain('\n')
      }),
    )
    expect(pretty({ name: '\u001b[2Jgone' })).toContain('\\u001b[2Jgone')
  })
})
