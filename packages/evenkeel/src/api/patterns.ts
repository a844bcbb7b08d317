/**
 * Patterns of schemas: regular expressions in Go's dialect, in time that grows with the text and no faster.
 */
import type { RE2JS } from 're2js'
import { requestEntityTooLarge } from './errors/constructors.ts'

// Loaded with the first definition: most servers start without it.
let engine: typeof RE2JS | undefined

/** Makes patterns work; must have resolved before anything is matched. */
export async function loadPatternEngine(): Promise<void> {
  engine ??= (await import('re2js')).RE2JS
}

const compiled = new Map<string, RE2JS | undefined>()
const compiledMax = 1000

/** What the patterns of one object may cost: about 0.4 seconds. */
const stepsMax = 10_000_000

/**
 * A matcher for one object. A match takes at most the instructions of the pattern for each character of the text;
 * `(a{1,50}){1,20}$` has a thousand.
 */
export function patternMatcher(): (pattern: string, text: string) => boolean {
  let left = stepsMax
  return (pattern, text) => {
    const found = patternOf(pattern)
    if (!found) return false
    left -= found.programSize() * text.length
    if (left < 0) throw requestEntityTooLarge('the texts of the object are too long for the patterns of its schema')
    return found.matcher(text).find()
  }
}

/** Whether a pattern is found in a text; one that cannot be read is found nowhere. */
export function matchesPattern(pattern: string, text: string): boolean {
  return patternMatcher()(pattern, text)
}

function patternOf(pattern: string): RE2JS | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern)
  if (compiled.size >= compiledMax) compiled.clear()
  const made = compile(pattern)
  compiled.set(pattern, made)
  return made
}

/** What the patterns of one definition may have in all: to compile them takes about a second. */
const instructionsMax = 1_000_000

/**
 * A check for the patterns of one definition: what is wrong with a pattern; undefined when it can be used.
 *
 * It throws `RequestEntityTooLarge` when all of them together are too large.
 */
export function patternChecker(): (pattern: string) => string | undefined {
  let left = instructionsMax
  return (pattern) => {
    const made = compiledOrError(pattern)
    if (typeof made === 'string') return made
    left -= made?.programSize() ?? 0
    if (left < 0) throw requestEntityTooLarge('the patterns of the definition are too large')
    return undefined
  }
}

function compiledOrError(pattern: string): RE2JS | string | undefined {
  try {
    return engine?.compile(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return engine?.compile(pattern)
  } catch {
    return undefined // validation of the definition has refused it already
  }
}
