/**
 * `npm start`: the durable store by hand, until there is a server to start.
 *
 * With a terminal: a prompt on a store in a folder. Without one: a short tour, then the end.
 */
import { parseArgs } from 'node:util'
import { isStoreError, openFileStore, restoreBackup, saveBackup } from 'evenkeel/unstable/store'
import { runPrompt } from './demo/prompt.ts'
import { runTour } from './demo/tour.ts'

const help = `npm start -- [options] [command]

  (no command)               a prompt on the store, or a short tour when there is no terminal
  snapshot save FILE         writes a backup of the store into a new file
  snapshot restore FILE      makes a store out of a backup, in a folder that is empty or not there

  --data FOLDER              where the store is (default: ./data)
  --help
`

// Whoever reads our output may stop reading, as `head` does; that is no error of ours.
process.stdout.on('error', () => process.exit(0))
process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { data: { type: 'string', default: 'data' }, help: { type: 'boolean', default: false } } })
    if (values.help) return say(help)
    if (positionals.length > 0) return await snapshot(values.data, positionals)
    const store = await openFileStore(values.data)
    try {
      if (process.stdin.isTTY) await runPrompt(store, values.data)
      else await runTour(store, values.data)
    } finally {
      await store.close()
    }
    return 0
  } catch (error) {
    if (!isStoreError(error) && !isUsageError(error)) throw error
    process.stderr.write(`Error: ${(error as Error).message}\n`)
    return 1
  }
}

async function snapshot(data: string, [topic, verb, file, ...rest]: readonly string[]): Promise<number> {
  if (topic !== 'snapshot' || (verb !== 'save' && verb !== 'restore') || file === undefined || rest.length > 0) {
    process.stderr.write(`Error: that is not a command\n\n${help}`)
    return 2
  }
  if (verb === 'restore') {
    const { entries, revision } = await restoreBackup(file, data)
    return say(`${entries} entries restored into ${data}; revisions go on from ${revision}\n`)
  }
  const store = await openFileStore(data)
  try {
    const { bytes, revision } = await saveBackup(store, file)
    return say(`revision ${revision} saved to ${file}, ${bytes} bytes\n`)
  } finally {
    await store.close()
  }
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

function isUsageError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
