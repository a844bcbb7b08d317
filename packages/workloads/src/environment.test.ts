import { describe, expect, test } from 'vitest'
import { EnvironmentError, makeEnvironment, parseEnvFile } from './environment.ts'

/** What a shell would expand. */
const braces = ['$HOME/$', '{HOME}/$(id)'].join('')

const variables = (text: string): Record<string, string> =>
  Object.fromEntries(parseEnvFile(text, '.env').map(({ name, value }) => [name, value]))

describe('makeEnvironment', () => {
  test('W30: later parts win: ambient, files, spec', () => {
    const { env } = makeEnvironment({ A: 'ambient', B: 'ambient', C: 'ambient' }, [
      [
        { name: 'B', value: 'file' },
        { name: 'C', value: 'file' },
      ],
      [{ name: 'C', value: 'spec' }],
    ])
    expect(env).toEqual({ A: 'ambient', B: 'file', C: 'spec' })
  })

  test('W30: of a name that a list has twice the last one counts, and it is reported', () => {
    const { env, duplicates } = makeEnvironment({ B: 'ambient' }, [
      [{ name: 'B', value: 'file' }],
      [
        { name: 'A', value: '1' },
        { name: 'B', value: 'spec' },
        { name: 'A', value: '2' },
      ],
    ])
    expect([env, duplicates]).toEqual([{ A: '2', B: 'spec' }, ['A']])
  })

  test('W30: nothing is expanded', () => {
    expect(makeEnvironment({ HOME: '/root' }, [[{ name: 'A', value: braces }]]).env['A']).toBe(braces)
  })

  test.each([
    ['', 'x', 'is empty or contains ='],
    ['A=B', 'x', '"A=B" is empty or contains ='],
    ['A\0', 'x', 'NUL: rename it'],
    ['A', 'x\0y', 'the value of the variable "A" contains a NUL character'],
    ['A', 'x'.repeat(1_048_576), 'the variable "A" has 1048579 bytes, more than 131072 (MAX_ARG_STRLEN)'],
  ])('W30: refuses the variable %j with a value like %.5s', (name, value, message) => {
    const make = (): unknown => makeEnvironment({}, [[{ name, value }]])
    expect(make).toThrow(EnvironmentError)
    expect(make).toThrow(message)
  })

  test('W30: refuses an environment of more than 1 MiB, and names the limit but no value', () => {
    const many = Array.from({ length: 11 }, (_, index) => ({ name: `V${index}`, value: 'secret'.repeat(20_000) }))
    expect(() => makeEnvironment({}, [many])).toThrow(/^the environment has 1320\d+ bytes, more than 1048576: put/)
  })
})

describe('parseEnvFile', () => {
  test.each([
    ['export', 'export A=1\nexport  B=2', { A: '1', B: '2' }],
    ['comments', '# A=1\n  # x\nA=a#b # c\nB=#none', { A: 'a#b', B: '' }],
    ['spaces', '  A =  hello world  \nB=', { A: 'hello world', B: '' }],
    ['single quotes', 'A=\'a # b\\n "x"\'\nB=2', { A: 'a # b\\n "x"', B: '2' }],
    ['double quotes', 'A="a\\tb\\n\\"c\\" \\\\ \\x # d" # e\nB=2', { A: 'a\tb\n"c" \\ \\x # d', B: '2' }],
    ['several lines', 'A="one\ntwo\nthree"\nB=\'x\ny\'\nC=3', { A: 'one\ntwo\nthree', B: 'x\ny', C: '3' }],
    ['CRLF', 'A=1\r\nB="x\r\ny"\r\n\r\nC=3\r\n', { A: '1', B: 'x\ny', C: '3' }],
    ['a byte order mark', '\uFEFFA=1', { A: '1' }],
    ['no expansion', `A=$HOME\nB="${braces}"`, { A: '$HOME', B: braces }],
    ['an equals sign in a value', 'URL=postgres://u:p@h/db?x=1', { URL: 'postgres://u:p@h/db?x=1' }],
    ['the last one counts', 'A=1\nA=2', { A: '2' }],
    ['nothing', '\n\n', {}],
  ])('W31: reads %s', (_, text, expected) => {
    expect(variables(text)).toEqual(expected)
  })

  test.each([
    ['A=1\nnonsense\n', '.env:2: write NAME=VALUE'],
    ['=x', '.env:1: write NAME=VALUE'],
    ['A=1\n\nB="open\nC=2', '.env:3: the value has no closing "'],
  ])('W31: names the line of a mistake: %j', (text, message) => {
    expect(() => parseEnvFile(text, '.env')).toThrow(message)
  })
})
