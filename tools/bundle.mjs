/**
 * Joins programs and the built package they use into a few files: what `npm start -- serve` runs (`.cache/serve/serve.mjs`), and
 * what envtest runs (`dist/envtest`).
 *
 * A process that loads 350 modules one by one spends most of its start on that: 180 ms against 42, and 13 MB. Everything
 * else that is published is left as the compiler writes it. Parts that are loaded when first needed stay files of their own.
 */
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Joins the build as it is now, dependencies too, into a folder. */
export async function bundle(folder) {
  await join({ serve: fileURLToPath(new URL('serve.mjs', import.meta.url)) }, { folder, ending: 'mjs' })
}

/**
 * Joins the programs that envtest runs into `dist/envtest` of a built package. They are published, and started by every
 * test suite anew. Dependencies stay what they are: they are installed with the package.
 */
export async function bundleEnvtest(library) {
  const programs = ['kube-apiserver', 'etcd'].map((name) => [name, `${library}/dist/plane/launcher/${name}.js`])
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(`${library}/package.json`, 'utf8'))
  await join(Object.fromEntries(programs), {
    folder: `${library}/dist/envtest`,
    ending: 'js',
    external: Object.keys({ ...dependencies, ...peerDependencies }),
  })
}

async function join(input, { folder, ending, external = [] }) {
  rmSync(folder, { recursive: true, force: true })
  const made = await rolldown({
    input,
    external,
    platform: 'node',
    resolve: { conditionNames: ['import', 'node', 'default'] },
    logLevel: 'warn',
  })
  await made.write({
    dir: folder,
    format: 'esm',
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `[name]-[hash].${ending}`,
  })
  await made.close()
}
