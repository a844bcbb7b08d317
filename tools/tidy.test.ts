/**
 * Checks the house rules: see tools/tidy/rules.ts for the rules and CONTRIBUTING.md for the reasons.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { referencePages } from './reference/main.ts'
import { checks, format } from './tidy/checks.ts'
import { buildHouse, readHouse, root } from './tidy/house.ts'
import { samples, type CheckName, type Sample } from './tidy/samples.ts'

const names = Object.keys(checks) as CheckName[]
const rules: Record<CheckName, string> = {
  layers: 'imports point downward',
  sizes: 'files, functions, parameters and folders stay below their limits',
  shape: 'files are named well, have a header and no syntax that cannot be erased',
  names: 'an exported type name occurs once in a layer, log messages are constant',
  merges: 'a file that one file imports is part of that file',
  public: 'public names are used and documented',
  bans: 'time and chance come from base only',
  dead: 'every export is used',
  walk: 'docs/walk.md names the files that exist',
}

describe('the house', () => {
  const house = readHouse()
  const page = readFileSync(join(root, 'docs', 'walk.md'), 'utf8')

  test.for(names)('%s', (name) => {
    expect(checks[name](house, page).map(format), rules[name]).toEqual([])
  })

  test('the reference pages are up to date', () => {
    for (const [path, text] of referencePages(house))
      expect(readFileSync(join(root, path), 'utf8'), 'run: node tools/run.mjs tools/reference/main.ts --write').toBe(
        text,
      )
  })
})

describe('the checks', () => {
  test.for(names)('%s reports every bad sample and no good one', (name) => {
    const wrong = samples.filter((sample) => sample.check === name).flatMap(verdict)
    expect(wrong).toEqual([])
    expect(samples.some((sample) => sample.check === name && sample.says)).toBe(true)
  })
})

/** The error of the check, if any: a missed finding, or a false alarm. */
function verdict({ check, path, text, says, beside = {} }: Sample): string[] {
  const texts = new Map([...Object.entries(beside), ...(check === 'walk' ? [] : [[path, text] as const])])
  const found = checks[check](buildHouse(texts), text)
    .filter((finding) => finding.path === path || check === 'sizes')
    .map(format)
  if (!says) return found.map((finding) => `false alarm: ${finding}`)
  return found.some((finding) => says.test(finding))
    ? []
    : [`missed in ${path}: ${says.source}; found ${JSON.stringify(found)}`]
}
