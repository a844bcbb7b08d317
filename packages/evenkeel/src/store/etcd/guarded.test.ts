import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Entry, Store, Write } from '../store.ts'
import {
  etcdctlMissing,
  etcdMissing,
  EtcdServer,
  opensslMissing,
  withEtcdctl,
  withReason,
} from './etcd-server.fixture.ts'
import type { EtcdServerOptions } from './etcd-server.fixture.ts'
import { openEtcdStore } from './etcd-store.ts'
import type { EtcdStoreOptions } from './etcd-store.ts'

const servers: EtcdServer[] = []
const stores: Store[] = []

async function start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
  const server = await EtcdServer.start(options)
  servers.push(server)
  return server
}

async function open(options: EtcdStoreOptions): Promise<Store> {
  const store = await openEtcdStore(options)
  stores.push(store)
  return store
}

const put = (key: string, size = 10, expect = 0): Write => ({ key, value: new Uint8Array(size), expect })

describe.skipIf(etcdMissing)(
  `an etcd that is full or guarded${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`,
  () => {
    afterEach(async () => {
      await Promise.all(stores.splice(0).map((store) => store.close()))
      await Promise.all(servers.splice(0).map((server) => server.stop()))
    })

    test.skipIf(etcdctlMissing)(
      withEtcdctl('refuses writes when it is full, still reads and deletes, and takes writes once there is room'),
      async () => {
        const server = await start({ args: ['--quota-backend-bytes', String(4 * 1024 * 1024)] })
        const store = await open({ endpoints: [server.endpoint] })
        const first = await store.commit(put('first'))
        let full: unknown
        for (let index = 0; full === undefined && index < 100; index++)
          await store.commit(put(`k${index}`, 500_000)).catch((error: unknown) => {
            full = error
          })
        expect(full).toMatchObject({ name: 'StoreError', reason: 'NoSpace' })
        expect(store.failure()).toMatchObject({ state: 'full' })
        await expect(store.grant(1000)).rejects.toMatchObject({ reason: 'NoSpace' })
        expect(await store.commit({ key: 'first', expect: first.ok ? first.revision : 0 })).toMatchObject({ ok: true })
        const { entries } = (await store.range('k')) as { entries: readonly Entry[] }
        expect(await store.commitAll(entries.map(({ key, revision }) => ({ key, expect: revision })))).toMatchObject({
          ok: true,
        })
        await store.compact(await store.head())
        expect(store.failure()).toMatchObject({ state: 'full' })
        server.control('defrag')
        server.control('alarm', 'disarm')
        expect(await store.commit(put('more'))).toMatchObject({ ok: true })
        expect(store.failure()).toBeUndefined()
      },
    )

    test.skipIf(etcdctlMissing)(
      withEtcdctl('lets in who knows the password, also after its tokens were thrown away'),
      async () => {
        const server = await start()
        const login = ['--user', 'root:secret']
        for (const command of [
          ['user', 'add', 'root:secret'],
          ['user', 'grant-role', 'root', 'root'],
          ['user', 'add', 'guest:guest'],
          ['auth', 'enable'],
        ])
          server.control(...command)
        const endpoints = [server.endpoint]
        const store = await open({ endpoints, user: 'root', password: 'secret' })
        const after = await store.head()
        const watch = store.watch('', { after })
        expect(await store.commit(put('a'))).toMatchObject({ ok: true })
        server.control(...login, 'auth', 'disable')
        server.control('auth', 'enable')
        expect(await store.commit(put('b'))).toMatchObject({ ok: true })
        const keys: string[] = []
        for await (const { changes } of watch) {
          keys.push(...changes.map(({ key }) => key))
          if (keys.length === 2) break
        }
        expect(keys).toEqual(['a', 'b'])
        await expect(
          openEtcdStore({ endpoints, user: 'root', password: 'wrong', timeouts: { retryMs: 3_000 } }),
        ).rejects.toMatchObject({ reason: 'Unusable', message: expect.stringContaining('password') as string })
        await expect(openEtcdStore({ endpoints, timeouts: { retryMs: 3_000 } })).rejects.toMatchObject({
          reason: 'Unusable',
        })
        await expect(
          openEtcdStore({ endpoints, user: 'guest', password: 'guest', timeouts: { retryMs: 3_000 } }),
        ).rejects.toMatchObject({ reason: 'Unusable', message: expect.stringContaining('permission denied') as string })
      },
    )

    const overTls = 'connects over TLS with a client certificate, and only to a server with a trusted authority'
    test.skipIf(opensslMissing)(withReason(overTls, opensslMissing), async () => {
      const folder = mkdtempSync(join(tmpdir(), 'evenkeel-tls-'))
      try {
        const { caFile, certFile, keyFile } = certificates(folder)
        const server = await start({ tls: { caFile, certFile, keyFile } })
        const [ca, cert, key] = [caFile, certFile, keyFile].map((file) => readFileSync(file)) as [
          Buffer,
          Buffer,
          Buffer,
        ]
        const store = await open({ endpoints: [server.endpoint], tls: { ca, cert, key } })
        expect(await store.commit(put('a'))).toMatchObject({ ok: true })
        const endpoints = [server.endpoint]
        await expect(
          openEtcdStore({ endpoints, tls: { cert, key }, timeouts: { retryMs: 3_000 } }),
        ).rejects.toMatchObject({ reason: 'Unusable', message: expect.stringMatching(/certificate/) as string })
        await expect(openEtcdStore({ endpoints, tls: { ca }, timeouts: { retryMs: 3_000 } })).rejects.toMatchObject({
          reason: 'Unusable',
        })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  },
)

/** An authority, and a certificate of it for 127.0.0.1, made by openssl. */
function certificates(folder: string): { caFile: string; certFile: string; keyFile: string } {
  const file = (name: string): string => join(folder, name)
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { stdio: 'ignore' })
  }
  const [caFile, caKey, certFile, keyFile] = [file('ca.crt'), file('ca.key'), file('node.crt'), file('node.key')]
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    caKey,
    '-out',
    caFile,
    '-days',
    '2',
    '-subj',
    '/CN=test-authority',
  )
  openssl(
    'req',
    '-new',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    keyFile,
    '-out',
    file('node.csr'),
    '-subj',
    '/CN=node',
  )
  writeFileSync(file('ext'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n')
  openssl(
    'x509',
    '-req',
    '-in',
    file('node.csr'),
    '-CA',
    caFile,
    '-CAkey',
    caKey,
    '-CAcreateserial',
    '-out',
    certFile,
    '-days',
    '2',
    '-extfile',
    file('ext'),
  )
  return { caFile, certFile, keyFile }
}
