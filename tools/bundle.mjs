/**
 * Joins the program that `npm start` runs, and the built package it uses, into a few files: `.cache/serve/serve.mjs`.
 *
 * A process that loads 350 modules one by one spends most of its start on that: 180 ms against 42, and 13 MB. What is
 * published is left as the compiler writes it. Parts that are loaded when first needed stay files of their own.
 */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Joins the build as it is now, dependencies too, into a folder. */
export async function bundle(folder) {
  rmSync(folder, { recursive: true, force: true })
  const made = await rolldown({
    input: { serve: fileURLToPath(new URL('serve.mjs', import.meta.url)) },
    platform: 'node',
    resolve: { conditionNames: ['import', 'node', 'default'] },
    logLevel: 'warn',
  })
  await made.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
  await made.close()
}
