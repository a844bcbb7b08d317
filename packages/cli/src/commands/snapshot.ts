/**
 * `evenkeel snapshot`: a backup of all objects of a data folder, and the way back.
 */
import { join, resolve } from 'node:path'
import type { Command } from '../command.ts'
import { Failure } from '../failure.ts'

export const snapshot: Command = {
  name: 'snapshot',
  about: 'save all objects to a file, or restore them from one',
  usage: 'save|restore FILE',
  words: { least: 2, most: 2 },
  completes: ['save', 'restore'],
  options: { data: { type: 'string', value: 'FOLDER', about: 'the data folder of the server (default: ./data)' } },
  details:
    'Stop the server first: only one process may use a data folder. A restore creates a new folder and never overwrites one.',
  examples: ['evenkeel snapshot save monday.backup', 'evenkeel snapshot restore monday.backup --data restored'],
  async run({ words: [verb, file = ''], values, io, json }) {
    const { openFileStore, restoreBackup, saveBackup } = await import('evenkeel/unstable/store')
    const folder = join(resolve(io.cwd, values.text('data') ?? 'data'), 'store')
    const path = resolve(io.cwd, file)
    if (verb === 'restore') {
      const { entries, revision } = await restoreBackup(path, folder)
      io.stdout.write(
        json
          ? `${JSON.stringify({ restored: entries, revision, folder })}\n`
          : `${entries} objects restored into ${folder}; versions continue from ${revision}\n`,
      )
      return 0
    }
    if (verb !== 'save')
      throw new Failure('usage', `evenkeel snapshot takes save or restore, got ${JSON.stringify(verb)}`, {
        hint: 'evenkeel snapshot --help',
      })
    const store = await openFileStore(folder)
    try {
      const { bytes, revision } = await saveBackup(store, path)
      io.stdout.write(
        json
          ? `${JSON.stringify({ saved: path, bytes, revision })}\n`
          : `version ${revision} saved to ${path}, ${bytes} bytes\n`,
      )
      return 0
    } finally {
      await store.close()
    }
  },
}
