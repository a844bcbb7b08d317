/**
 * The tidy checks without a test runner: `node tools/run.mjs tools/tidy/main.ts`.
 *
 * Prints every finding, then how close the largest files, functions and folders are to the limits.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checks, format } from './checks.ts'
import { readHouse, root } from './house.ts'
import { limits } from './rules.ts'
import { measure } from './sizes.ts'

const house = readHouse()
const page = readFileSync(join(root, 'docs', 'walk.md'), 'utf8')
const findings = Object.values(checks).flatMap((check) => check(house, page))
for (const finding of findings) console.log(format(finding))

const measures = measure(house)
for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
  const top = measures[name].slice(0, 3).map(({ size, finding }) => `${size} ${finding.path}:${finding.line}`)
  console.log(`${name}, limit ${limits[name]}: ${top.join(', ')}`)
}
console.log(`${findings.length} findings in ${house.files.size} files`)
process.exitCode = findings.length > 0 ? 1 : 0
