import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { writeKubeconfig } from './kubeconfig.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('row 3: a kubeconfig and a new folder for it are for their owner only, whatever the umask', async () => {
  const before = process.umask(0)
  try {
    await writeKubeconfig(join(folder, 'new', 'config'), { server: 'https://a', token: 't' })
  } finally {
    process.umask(before)
  }
  expect((await stat(join(folder, 'new'))).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'new', 'config'))).mode & 0o777).toBe(0o600)
})

test('writeKubeconfig writes one context for its owner only', async () => {
  const path = join(folder, 'new', 'config')
  await writeKubeconfig(path, { server: 'https://127.0.0.1:6443', caPem: 'PEM\n', token: 'secret' })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(parse(await readFile(path, 'utf8'))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'evenkeel',
    clusters: [
      {
        name: 'evenkeel',
        cluster: {
          server: 'https://127.0.0.1:6443',
          'certificate-authority-data': Buffer.from('PEM\n').toString('base64'),
        },
      },
    ],
    users: [{ name: 'evenkeel', user: { token: 'secret' } }],
    contexts: [{ name: 'evenkeel', context: { cluster: 'evenkeel', user: 'evenkeel', namespace: 'default' } }],
  })
})

test('writeKubeconfig quotes names, and needs no authority without TLS', async () => {
  const path = join(folder, 'config')
  await writeKubeconfig(path, { server: 'http://[::1]:80', token: 't', name: 'a: "b" #' })
  const read = parse(await readFile(path, 'utf8')) as Record<string, unknown>
  expect(read['current-context']).toBe('a: "b" #')
  expect(read['clusters']).toEqual([{ name: 'a: "b" #', cluster: { server: 'http://[::1]:80' } }])
})

test('writeKubeconfig replaces a link instead of writing through it, and a file that others could read', async () => {
  const [path, elsewhere] = [join(folder, 'config'), join(folder, 'elsewhere')]
  await writeFile(elsewhere, 'old', { mode: 0o644 })
  await symlink(elsewhere, path)
  await writeKubeconfig(path, { server: 'https://a', token: 't' })
  expect(await readFile(elsewhere, 'utf8')).toBe('old')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})
