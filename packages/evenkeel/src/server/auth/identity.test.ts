import { X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, assert, beforeEach, describe, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { ensureIdentity, makeIdentity } from './identity.ts'

const dayMs = 86_400_000
let parent: string
let folder: string
let clock: SimulatedClock

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'identity-'))
  folder = join(parent, 'identity')
  clock = new SimulatedClock()
})
afterEach(() => rm(parent, { recursive: true }))

const ensure = (names: readonly string[] = []) =>
  ensureIdentity(folder, { clock, random: new SeededRandom(clock.now()), names })

const files = ['accounts.pem', 'ca.pem', 'front-proxy-ca.pem', 'front-proxy-client.pem', 'server.pem', 'token']

describe('ensureIdentity', () => {
  test('row 3: makes everything at the first start, for its owner only, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      await ensure()
    } finally {
      process.umask(before)
    }
    expect((await readdir(folder)).sort()).toEqual(files)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600)
  })

  test('gives the same identity at the next start', async () => {
    const first = await ensure()
    clock.jumpWall(200 * dayMs)
    expect(await ensure()).toEqual(first)
    expect(first.token).toMatch(/^[\w-]{43}$/)
  })

  test('row 2: is signed by its own authority, for the machine and the given names', async () => {
    const { authority, server } = await ensure(['example.com', '10.0.0.1', 'localhost'])
    const certificate = new X509Certificate(server.certificatePem)
    assert(certificate.verify(new X509Certificate(authority.certificatePem).publicKey))
    for (const name of ['localhost', 'kubernetes.default.svc', 'example.com'])
      expect(certificate.checkHost(name), name).toBe(name)
    for (const address of ['127.0.0.1', '::1', '10.0.0.1']) expect(certificate.checkIP(address), address).toBe(address)
  })

  test('makes a new server certificate when a name is added or goes, and keeps authority and token', async () => {
    const [first, more, again, fewer] = [
      await ensure(),
      await ensure(['example.com']),
      await ensure(['example.com']),
      await ensure(),
    ]
    expect(more.server).not.toEqual(first.server)
    expect(again).toEqual(more)
    expect(fewer.server).not.toEqual(more.server)
    expect(new X509Certificate(fewer.server.certificatePem).checkHost('example.com')).toBeUndefined()
    expect([fewer.authority, fewer.token]).toEqual([first.authority, first.token])
  })

  test('makes a new server certificate when the end is near, the clock stood wrong, or it is lost', async () => {
    const first = await ensure()
    clock.jumpWall(276 * dayMs)
    const renewed = await ensure()
    clock.jumpWall(-10 * dayMs)
    const after = await ensure()
    await rm(join(folder, 'server.pem'))
    const lost = await ensure()
    expect(new Set([first, renewed, after, lost].map(({ server }) => server.certificatePem)).size).toBe(4)
    expect(lost.authority).toEqual(first.authority)
  })

  test('makes a new authority, and what it signs, before the old one ends', async () => {
    const first = await ensure()
    clock.jumpWall(9.5 * 365 * dayMs)
    const renewed = await ensure()
    expect(renewed.authority).not.toEqual(first.authority)
    assert(
      new X509Certificate(renewed.server.certificatePem).checkIssued(
        new X509Certificate(renewed.authority.certificatePem),
      ),
    )
    expect(renewed.token).toBe(first.token)
  })

  test('makes a new server certificate when its signature is not that of the authority', async () => {
    const { server } = await ensure()
    const bytes = new X509Certificate(server.certificatePem).raw
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    const forged = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`
    await writeFile(join(folder, 'server.pem'), `${forged}${server.keyPem}`)
    const after = await ensure()
    const { publicKey } = new X509Certificate(after.authority.certificatePem)
    assert(new X509Certificate(after.server.certificatePem).verify(publicKey))
  })

  test('row 3: refuses a folder or file that others can get at, and says what to do', async () => {
    await ensure()
    await chmod(folder, 0o755)
    await expect(ensure()).rejects.toThrow(`other users can access ${folder} (mode 0755): run chmod 700 ${folder}`)
    await chmod(folder, 0o700)
    for (const name of await readdir(folder)) {
      await chmod(join(folder, name), 0o640)
      await expect(ensure(), name).rejects.toThrow(`(mode 0640): run chmod 600 ${join(folder, name)}`)
      await chmod(join(folder, name), 0o600)
    }
    await ensure()
  })

  test('row 3: refuses links and what is no file or folder', async () => {
    await ensure()
    await rm(join(folder, 'token'))
    await writeFile(join(parent, 'elsewhere'), 'a'.repeat(43), { mode: 0o600 })
    await symlink(join(parent, 'elsewhere'), join(folder, 'token'))
    await expect(ensure()).rejects.toThrow('it is a link')
    await expect(ensureIdentity(join(parent, 'elsewhere'), { clock })).rejects.toThrow(/EEXIST|not a folder/)
  })

  test('says which file is damaged, and leaves it alone', async () => {
    await ensure()
    for (const name of files) {
      const path = join(folder, name)
      const good = await readFile(path, 'utf8')
      for (const bad of ['', 'garbage', good.slice(0, good.length / 2), good.slice(good.length / 2)]) {
        await writeFile(path, bad)
        await expect(ensure(), name).rejects.toThrow(`${path} is damaged`)
        expect(await readFile(path, 'utf8')).toBe(bad)
      }
      await writeFile(path, good)
    }
    await writeFile(
      join(folder, 'ca.pem'),
      swapKey(await readFile(join(folder, 'ca.pem'), 'utf8'), await readFile(join(folder, 'server.pem'), 'utf8')),
    )
    await expect(ensure()).rejects.toThrow('the key belongs to another certificate')
  })

  test('goes on after a crash that left a temporary file', async () => {
    const first = await ensure()
    await rm(join(folder, 'server.pem'))
    await writeFile(join(folder, '.server.pem.new'), 'half', { mode: 0o644 })
    expect((await ensure()).authority).toEqual(first.authority)
    expect((await readdir(folder)).sort()).toEqual(files)
  })
})

test('makeIdentity makes one in memory, another one each time', () => {
  const [a, b] = [makeIdentity(), makeIdentity({ names: ['example.com'] })]
  expect(a.token).not.toBe(b.token)
  expect(new X509Certificate(b.server.certificatePem).checkHost('example.com')).toBe('example.com')
  assert.isFalse(
    new X509Certificate(b.server.certificatePem).verify(new X509Certificate(a.authority.certificatePem).publicKey),
  )
})

function swapKey(one: string, other: string): string {
  const key = /-----BEGIN PRIVATE KEY[^]*/
  return one.replace(key, () => key.exec(other)?.[0] ?? '')
}
