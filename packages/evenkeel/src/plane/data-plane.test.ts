import { createPrivateKey } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openDataPlane } from './data-plane.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-data-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Written {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[]
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[]
  readonly contexts: readonly { readonly context: Readonly<Record<string, string>> }[]
}

test('the client certificate of the kubeconfig is that of the administrator, without the token', async () => {
  const { kubeconfig, url, stop } = await openDataPlane({ folder, memory: true, controllers: false })
  try {
    const { clusters, users, contexts } = parse(await readFile(kubeconfig, 'utf8')) as Written
    const user = users[0]?.user ?? {}
    const pem = (text = ''): string => Buffer.from(text, 'base64').toString()
    const said = await new Promise<string>((resolve, reject) => {
      const asked = request(`${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
        method: 'POST',
        ca: pem(clusters[0]?.cluster['certificate-authority-data']),
        cert: pem(user['client-certificate-data']),
        key: pem(user['client-key-data']),
        headers: { 'content-type': 'application/json' },
      })
      asked.on('error', reject)
      asked.on('response', (response) => {
        let text = ''
        response.on('data', (piece: Buffer) => (text += piece.toString()))
        response.on('end', () => {
          resolve(text)
        })
      })
      asked.end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}')
    })
    expect(JSON.parse(said)).toMatchObject({
      status: { userInfo: { username: 'evenkeel-admin', groups: ['system:masters', 'system:authenticated'] } },
    })
    expect(user['token']).toBeTruthy()
    expect(contexts[0]?.context).toMatchObject({ namespace: 'default' })
  } finally {
    await stop()
  }
})

async function clientKeyOf(kubeconfig: string): Promise<string> {
  const { users } = parse(await readFile(kubeconfig, 'utf8')) as Written
  return Buffer.from(users[0]?.user['client-key-data'] ?? '', 'base64').toString()
}

test('the key of the kubeconfig is an RSA key, which every client can read, and stays over a restart', async () => {
  const keys: string[] = []
  for (const _ of ['first', 'second']) {
    const { kubeconfig, stop } = await openDataPlane({ folder, memory: true, controllers: false })
    keys.push(await clientKeyOf(kubeconfig))
    await stop()
  }
  expect(createPrivateKey(keys[0] ?? '').asymmetricKeyType).toBe('rsa')
  expect(keys[1]).toBe(keys[0])
})

test('a damaged client certificate stops the start, and the port is free again', async () => {
  const first = await openDataPlane({ folder, memory: true, controllers: false })
  const port = Number(new URL(first.url).port)
  await first.stop()
  const path = join(folder, 'identity', 'administrator.pem')
  await writeFile(path, 'nonsense')
  await expect(openDataPlane({ folder, memory: true, controllers: false, port })).rejects.toThrow(`${path} is damaged`)
  await rm(path)
  const again = await openDataPlane({ folder, memory: true, controllers: false, port })
  expect(again.url).toBe(first.url)
  await again.stop()
})

test.skipIf(process.getuid === undefined)('row 3: a data folder that others can write is refused', async () => {
  await chmod(folder, 0o770)
  await expect(openDataPlane({ folder, memory: true })).rejects.toThrow(
    `other users can write to ${folder} (mode 0770): run chmod go-w ${folder}`,
  )
})
