/**
 * Fields of a file that are checked where they are read: a text, a number, a list of texts, variables, a duration.
 *
 * A field of the wrong sort is an error in the findings with what to write instead, and counts as absent.
 */
import type { YamlValue } from './yaml-value.ts'

const kindOf = (value: YamlValue): string => (value.isMap ? 'a map' : value.isList ? 'a list' : 'a single value')

export function textOf(value: YamlValue | undefined): string | undefined {
  if (!value) return undefined
  if (value.text === undefined) value.error(`must be a text, got ${kindOf(value)}`)
  return value.text
}

interface Range {
  readonly least?: number
  readonly most?: number
  /** @default true */
  readonly isWhole?: boolean
}

export function numberOf(
  value: YamlValue | undefined,
  { least = 0, most = Number.MAX_SAFE_INTEGER, isWhole = true }: Range = {},
): number | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() !== '' && number >= least && number <= most && (!isWhole || Number.isInteger(number))) return number
  value?.error(
    `must be a${isWhole ? ' whole' : ''} number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}, got ${JSON.stringify(text)}`,
  )
  return undefined
}

export function portOf(value: YamlValue | undefined): number | undefined {
  return numberOf(value, { least: 1, most: 65_535 })
}

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  false: false,
  no: false,
  off: false,
}

export function flagOf(value: YamlValue | undefined): boolean | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  const flag = truths[text.toLowerCase()]
  if (flag === undefined) value?.error(`must be true or false, got ${JSON.stringify(text)}`)
  return flag
}

/** One of these words. */
export function choiceOf<T>(value: YamlValue | undefined, choices: Readonly<Record<string, T>>): T | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  if (Object.hasOwn(choices, text)) return choices[text]
  value?.error(`must be ${listOf(Object.keys(choices))}, got ${JSON.stringify(text)}`)
  return undefined
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
}

/** A text, or a list of texts. */
export function textsOf(value: YamlValue | undefined): readonly string[] {
  if (!value) return []
  if (!value.isList) return [textOf(value)].flatMap((text) => text ?? [])
  return value.items().flatMap((item) => textOf(item) ?? [])
}

export interface ReadVariable {
  readonly name: string
  /** Undefined: that of Evenkeel's environment. */
  readonly value: string | undefined
}

/** Variables: a map of names and values, or a list of `NAME=VALUE`. */
export function variablesOf(value: YamlValue | undefined): readonly ReadVariable[] {
  if (!value) return []
  if (value.isMap)
    return value.entries().flatMap(([name, one]) => checkedVariable(one, name, one.isEmpty ? undefined : textOf(one)))
  if (!value.isList) {
    value.error('must be a map (NAME: value) or a list (- NAME=value)')
    return []
  }
  return value.items().flatMap((item) => {
    const text = textOf(item)
    if (text === undefined) return []
    const at = text.indexOf('=')
    return at < 0
      ? checkedVariable(item, text, undefined)
      : checkedVariable(item, text.slice(0, at), text.slice(at + 1))
  })
}

function checkedVariable(place: YamlValue, name: string, value: string | undefined): readonly ReadVariable[] {
  if (name !== '' && !/[=\0\s]/.test(name)) return [{ name, value }]
  place.error(`the variable name ${JSON.stringify(name)} is empty or contains =, NUL or a space: rename it`)
  return []
}

const units: Readonly<Record<string, number>> = { us: 1e-6, ms: 0.001, s: 1, m: 60, h: 3600 }

/** `1m30s`, `500ms` or a number of seconds, in seconds. */
export function secondsOf(value: YamlValue | undefined): number | undefined {
  const text = textOf(value)?.trim()
  if (text === undefined) return undefined
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(us|ms|s|m|h)/g)]
  if (parts.length > 0 && parts.map(([part]) => part).join('') === text)
    return parts.reduce((sum, [, number, unit = 's']) => sum + Number(number) * (units[unit] ?? 1), 0)
  value?.error(`must be a duration such as 10s or 1m30s, got ${JSON.stringify(text)}`)
  return undefined
}

/** A command line as words, without a shell: quotes and backslashes as in one. Undefined when a quote is not closed. */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let [word, quote]: [string | undefined, string] = [undefined, '']
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (quote !== "'" && character === '\\' && at + 1 < text.length) word = `${word ?? ''}${text[++at] ?? ''}`
    else if (quote !== '') {
      if (character === quote) quote = ''
      else word = `${word ?? ''}${character}`
    } else if (character === '"' || character === "'") [word, quote] = [word ?? '', character]
    else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = `${word ?? ''}${character}`
  }
  if (quote !== '') return undefined
  return word === undefined ? words : [...words, word]
}

/** A command: a list of words, or a text that is split without a shell. */
export function commandOf(value: YamlValue | undefined): readonly string[] | undefined {
  if (!value) return undefined
  if (value.isList) {
    const words = textsOf(value)
    if (words.length === 0) value.error('is empty: write a program and its arguments, [node, server.js]')
    return words.length === 0 ? undefined : words
  }
  const text = textOf(value)
  if (text === undefined) return undefined
  const words = splitWords(text)
  if (!words) value.error(`has a quote that is not closed: ${text}`)
  else if (words.length === 0) value.error('is empty: write a program and its arguments, [node, server.js]')
  return words?.length === 0 ? undefined : words
}

/** A path of another system is a mistake that would only show when the program starts. */
export function pathOf(value: YamlValue | undefined): string | undefined {
  const text = textOf(value)
  if (text !== undefined && isForeignPath(text))
    value?.error(`${JSON.stringify(text)} is a path of Windows: write it with slashes, relative to the project`)
  return text
}

function isForeignPath(text: string): boolean {
  return process.platform !== 'win32' && (/^[A-Za-z]:[\\/]/.test(text) || /^\.{0,2}\\/.test(text))
}
