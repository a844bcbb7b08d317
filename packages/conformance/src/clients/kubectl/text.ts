/**
 * Compares the output of kubectl with the expectation of a step.
 */
import type { Text } from './session.ts'

const tokens: Readonly<Record<string, string>> = {
  '<age>': '(?:<invalid>|\\d+[smhdy](?:\\d+[smhdy])?)',
  '<time>': '"?\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ"?',
  '<word>': '\\S+',
  '<any>': '.*',
}

/** Whether a text is the expected one. */
export function matches(actual: string, expected: Text): boolean {
  return expected instanceof RegExp ? expected.test(actual) : lines(expected).test(`${simplify(actual)}\n`)
}

/** Inserts the name of the namespace. */
export function fill(text: Text, namespace: string): Text {
  if (text instanceof RegExp) return new RegExp(text.source.replaceAll('\\$NS', namespace), text.flags)
  const one = typeof text === 'string' ? text : text.join('\n')
  return one.replaceAll('$NS', namespace)
}

/** Splits a command line into arguments: separated by spaces; quotes protect spaces and the other kind of quotes. */
export function splitArguments(line: string): string[] {
  const found = line.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []
  return found.map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  )
}

function lines(expected: string | readonly string[]): RegExp {
  const wanted = typeof expected === 'string' ? expected : expected.join('\n')
  const pattern = simplify(wanted)
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\\n)*?' : `${linePattern(line)}\\n`))
  return new RegExp(`^${pattern.join('')}$`)
}

function linePattern(line: string): string {
  const parts = line.split(/(<age>|<time>|<word>|<any>)/)
  return parts.map((part) => tokens[part] ?? part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('')
}

/** Columns are as wide as their content, so the number of spaces does not matter, except at the start of a line. */
function simplify(text: string): string {
  return text
    .replace(/\t/g, '  ')
    .replace(/(?<=\S) +/g, ' ')
    .replace(/ +$/gm, '')
    .replace(/\n+$/, '')
}
