/**
 * Runs the programs of a page: `node tools/run.mjs tools/doc-examples/main.ts docs/quizzes/identity.md`.
 *
 * Prints the output of each. Without a page it checks and runs the programs of all pages.
 */
import { join } from 'node:path'
import { fencesOf, listPages, programsOf, readPage, root } from './pages.ts'
import { ProgramFiles } from './programs.ts'

// The reader of the output may close the pipe early, as `head` does.
process.stdout.on('error', () => undefined)

const pages = process.argv.length > 2 ? process.argv.slice(2) : listPages()
const programs = pages.flatMap((page) => programsOf(fencesOf(page, readPage(page))))
const files = new ProgramFiles(join(root, '.cache', 'doc-examples', 'shown'), programs)
const wrong = process.argv.length > 2 ? [] : await files.checkTypes()
for (const line of wrong) console.log(line)
let failed = wrong.length
for (const { where, printed, error } of await files.run()) {
  console.log(`${where}\n${printed.replaceAll(/^/gm, '  ').trimEnd()}\n`)
  if (error !== undefined) {
    failed++
    console.log(`it failed: ${error}\n`)
  }
}
console.log(
  `${programs.filter(({ isRun }) => isRun).length} programs were run, ${programs.length} are there, ${failed} findings`,
)
process.exitCode = failed > 0 ? 1 : 0
