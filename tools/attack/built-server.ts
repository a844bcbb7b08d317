/**
 * The attacked server on the built packages, as users run them: sources that are compiled on the fly take more memory, in
 * each thread again.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { buildAll, isStale } from '../build.mjs'

const folder = fileURLToPath(new URL('../../.cache/', import.meta.url))

/** Builds what is stale; returns the file of the program. */
export async function buildServer(): Promise<string> {
  if (isStale()) await buildAll()
  const file = join(folder, 'attack-server.mjs')
  const bundle = await rolldown({
    input: fileURLToPath(new URL('server.ts', import.meta.url)),
    external: [/^evenkeel(?:\/|$)/, /^@evenkeel\//],
    platform: 'node',
    logLevel: 'warn',
  })
  await bundle.write({ file, format: 'esm' })
  await bundle.close()
  return file
}
