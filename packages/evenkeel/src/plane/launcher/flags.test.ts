import { describe, expect, test } from 'vitest'
import { allApiServerFlags, helpOf, readFlags, type FlagTable } from './flags.ts'

const table = {
  port: { takes: 'value', help: 'the port' },
  modes: { takes: 'values', help: 'who decides' },
  quiet: { takes: 'switch', help: 'say nothing' },
} as const satisfies FlagTable

describe('readFlags', () => {
  test.each([
    ['with an equals sign', ['--port=1']],
    ['as the next word', ['--port', '1']],
    ['with one dash', ['-port=1']],
    ['twice: the last one counts', ['--port=2', '--port=1']],
  ])('takes a value %s', (_, args) => {
    expect(readFlags(args, table).value('port')).toBe('1')
  })

  test('takes everything after the first equals sign, also nothing, also another flag', () => {
    expect(readFlags(['--port=a=b'], table).value('port')).toBe('a=b')
    expect(readFlags(['--port='], table).value('port')).toBe('')
    expect(readFlags(['--port', '--quiet'], table).value('port')).toBe('--quiet')
    expect(() => readFlags(['--port'], table)).toThrow(new RangeError('--port needs a value'))
  })

  test('adds values up, by commas and by the flag again', () => {
    expect(readFlags(['--modes=a,b', '--modes', 'c,'], table).values('modes')).toEqual(['a', 'b', 'c'])
    expect(readFlags([], table).values('modes')).toEqual([])
  })

  test('turns switches on and off, and leaves the next word alone', () => {
    expect(readFlags(['--quiet', 'false'], table)).toMatchObject({ rest: ['false'] })
    expect(readFlags(['--quiet'], table).isOn('quiet')).toBe(true)
    expect(readFlags(['--quiet=false'], table).isOn('quiet', true)).toBe(false)
    expect([readFlags([], table).isOn('quiet'), readFlags([], table).isOn('quiet', true)]).toEqual([false, true])
    expect(() => readFlags(['--quiet=maybe'], table)).toThrow('--quiet must be true or false, got "maybe"')
  })

  test('names flags that it does not know, with what belongs to them, and goes on', () => {
    const flags = readFlags(
      ['--new', 'x', '--newer=1', '--newest', '--port=1', '--constructor', '--__proto__=2'],
      table,
    )
    expect(flags.unknown).toEqual(['new', 'newer', 'newest', 'constructor', '__proto__'])
    expect([flags.value('port'), flags.rest]).toEqual(['1', []])
  })
})

test('helpOf names every flag at the start of a line, and never the insecure port, which envtest looks for', () => {
  const help = helpOf(allApiServerFlags)
  for (const name of Object.keys(allApiServerFlags)) expect(help).toMatch(new RegExp(`^\\s*--${name}\\b`, 'm'))
  expect(help).not.toMatch(/^\s*--insecure-port\b/m)
})
