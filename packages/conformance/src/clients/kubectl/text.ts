/**
 * Compares what kubectl wrote with what a step expects.
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

/** Puts the namespace's name in its places. */
export function fill(text: Text, namespace: string): Text {
  if (text instanceof RegExp) return new RegExp(text.source.replaceAll('\\$NS', namespace), text.flags)
  const one = typeof text === 'string' ? text : text.join('\n')
  return one.replaceAll('$NS', namespace)
}

/** The arguments of a command line: separated by spaces; quotes keep spaces, and quotes of the other sort. */
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

/** Columns are as wide as what is in them, so runs of spaces say nothing; at the beginning of a line they do. */
function simplify(text: string): string {
  return text
    .replace(/\t/g, '  ')
    .replace(/(?<=\S) +/g, ' ')
    .replace(/ +$/gm, '')
    .replace(/\n+$/, '')
}
