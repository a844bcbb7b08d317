import { expect, test } from 'vitest'
import { caughtUp, lineBytesMax, selectLines, type LogBytes } from './log-lines.ts'
import { readLogQuery } from './log-query.ts'

async function* stored(...pieces: readonly (string | typeof caughtUp)[]): LogBytes {
  for (const piece of pieces) yield await Promise.resolve(piece === caughtUp ? piece : Buffer.from(piece))
}

async function shown(query: string, ...pieces: readonly (string | typeof caughtUp)[]): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of selectLines(stored(...pieces), readLogQuery(new URLSearchParams(query)))) parts.push(part)
  return Buffer.concat(parts).toString()
}

const at = '2030-01-31T12:00:00.000Z'
const five = [1, 2, 3, 4, 5].map((number) => `${number} ${at} line ${number}\n`)

test.each<[string, string]>([
  ['', 'line 1\nline 2\nline 3\nline 4\nline 5\n'],
  ['timestamps=true&limit=1', `${at} line 1\n`],
  ['line_numbers=true&limit=2', '1 line 1\n2 line 2\n'],
  ['timestamps=true&line_numbers=true&skip=4', `5 ${at} line 5\n`],
  ['skip=1&limit=2', 'line 2\nline 3\n'],
  ['skip=9', ''],
  ['tail=2', 'line 4\nline 5\n'],
  ['tail=1&line_numbers=true', '5 line 5\n'],
  ['tail=4&limit=2', 'line 2\nline 3\n'],
  ['tail=9', 'line 1\nline 2\nline 3\nline 4\nline 5\n'],
])('selectLines of five lines with %j', async (query, expected) => {
  expect(await shown(query, ...five)).toBe(expected)
  // Pieces end anywhere.
  expect(await shown(query, ...five.join('').split(/(?<=^(?:.{7})+)/s))).toBe(expected)
})

test('the tail is taken of what was there; what comes later is all shown', async () => {
  expect(await shown('tail=1&follow=true', ...five.slice(0, 3), caughtUp, ...five.slice(3))).toBe(
    'line 3\nline 4\nline 5\n',
  )
})

test('a long tail keeps its last lines', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => `${index + 1} ${at} ${index + 1}\n`)
  expect((await shown('tail=300', ...many)).split('\n').slice(0, 2)).toEqual(['701', '702'])
})

test('lines of a container runtime have no number: they are counted', async () => {
  expect(await shown('line_numbers=true&timestamps=true', `${at} one\n${at} two\n`)).toBe(`1 ${at} one\n2 ${at} two\n`)
})

test.each(['plain\n', '42 apples\n', '12\n', '\n', '1 2030-13 x\n', 'ü\n'])(
  'a line %j without number and time is shown as it is',
  async (line) => {
    expect(await shown('', line)).toBe(line)
  },
)

test('bytes that are no text stay as they are', async () => {
  const bytes = Buffer.concat([Buffer.from(`1 ${at} `), Buffer.from([0xff, 0, 0xfe, 10])])
  const parts: Uint8Array[] = []
  const source = (async function* (): LogBytes {
    yield await Promise.resolve(bytes)
  })()
  for await (const part of selectLines(source, readLogQuery(new URLSearchParams()))) parts.push(part)
  expect([...Buffer.concat(parts)]).toEqual([0xff, 0, 0xfe, 10])
})

test('an unfinished line is shown when the reader has caught up, and its rest is no new line', async () => {
  expect(await shown('follow=true', `1 ${at} Name? `, caughtUp, `yes\n2 ${at} done\n`)).toBe('Name? yes\ndone\n')
})

test('a line that is too long for the memory is passed on in parts', async () => {
  const half = 'x'.repeat(lineBytesMax)
  expect(await shown('line_numbers=true', `1 ${at} ${half}`, half, `\n2 ${at} two\n`)).toBe(`1 ${half}${half}\n2 two\n`)
})
