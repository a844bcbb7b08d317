import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemTable } from '@evenkeel/workloads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { typed, type Said } from './fixtures/cli.fixture.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-foreign-'))
  await mkdir(join(folder, 'data'), { mode: 0o700 })
  await writeFile(
    join(folder, 'plugin.sh'),
    `#!/bin/sh\necho ran > ${join(folder, 'ran')}\necho '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'\n`,
    { mode: 0o755 },
  )
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Planted {
  readonly user?: object
  readonly cluster?: object
  readonly mode?: number
}

const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '../plugin.sh', interactiveMode: 'Never' }

/** A kubeconfig in the data folder of the working directory. */
async function plant({ user = { token: 't' }, cluster = {}, mode = 0o600 }: Planted): Promise<string> {
  const path = join(folder, 'data', 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [{ name: 'x', cluster: { server: 'http://127.0.0.1:1', ...cluster } }],
    users: [{ name: 'x', user }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  }
  await writeFile(path, JSON.stringify(config), { mode })
  await chmod(path, mode)
  return path
}

const type = (...words: string[]): Promise<Said> => typed(words, { cwd: folder })
const hasRun = (): Promise<boolean> =>
  readFile(join(folder, 'ran')).then(
    () => true,
    () => false,
  )

describe('row 29: a command typed in a foreign directory runs and trusts nothing of it', () => {
  test.each([['get', 'ns'], ['doctor'], ['why', 'cm/x'], ['kubeconfig'], ['completion', 'words', 'get']])(
    '%s %s does not run a credential plugin of ./data/kubeconfig',
    async (...words) => {
      await plant({ user: { exec } })
      await type(...words)
      expect(await hasRun()).toBe(false)
    },
  )

  test('the plugin runs when the caller names the file', async () => {
    const path = await plant({ user: { exec } })
    expect((await type('get', 'ns', '--kubeconfig', path)).err).toContain('error[no-server]')
    expect(await hasRun()).toBe(true)
  })

  test.each<[string, Planted, string]>([
    ['a plugin', { user: { exec } }, 'evenkeel does not write exec'],
    [
      'another machine',
      { cluster: { server: 'https://example.com' } },
      'its server https://example.com is not on this machine',
    ],
    [
      'a name that only begins like a loopback address',
      { cluster: { server: 'http://127.0.0.1.example.com' } },
      'is not on this machine',
    ],
    ['a proxy', { cluster: { 'proxy-url': 'http://127.0.0.1:2' } }, 'evenkeel does not write proxy-url'],
    [
      'no check of the certificate',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'evenkeel does not write insecure-skip-tls-verify',
    ],
    ['a token file', { user: { tokenFile: '/etc/passwd' } }, 'it names other files'],
    ['a CA file', { cluster: { 'certificate-authority': '/etc/passwd' } }, 'it names other files'],
    ['another user', { user: { token: 't', as: 'admin' } }, 'evenkeel does not write as'],
    ['a file that others can read', { mode: 0o644 }, 'other users can access it (mode 0644'],
  ])('a kubeconfig with %s is an error and not skipped', async (_, planted, because) => {
    const path = await plant(planted)
    const { code, err } = await type('get', 'ns')
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(`error[bad-file]: ${path} is not used: `) as string,
    })
    expect(err).toContain(because)
    expect(err).toContain('Try: name the file to trust it')
  })

  test('server, CA and token are used', async () => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization}`)
      response.writeHead(401).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      await plant({ cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } })
      expect((await type('get', 'ns')).err).toContain('error[not-let-in]')
      expect(seen[0]).toMatch(/ Bearer t$/)
      seen.length = 0
      await type('completion', 'words', 'get')
      expect(seen).toEqual([])
    } finally {
      server.close()
    }
  })

  test('a folder that others can write, and links, are errors', async () => {
    const path = await plant({})
    await chmod(join(folder, 'data'), 0o777)
    expect((await type('get', 'ns')).err).toContain('data is not used: other users can access it (mode 0777')
    await chmod(join(folder, 'data'), 0o700)
    await rename(path, join(folder, 'elsewhere'))
    await symlink(join(folder, 'elsewhere'), path)
    expect((await type('get', 'ns')).err).toContain('kubeconfig is not used: it is a link')
    await rm(path)
    await rename(join(folder, 'elsewhere'), path)
    await rename(join(folder, 'data'), join(folder, 'moved'))
    await symlink(join(folder, 'moved'), join(folder, 'data'))
    expect((await type('get', 'ns')).err).toContain('data is not used: it is a link')
  })

  test('manager.json reaches managers of this machine only, and an answer of another program is no crash', async () => {
    let calls = 0
    const server = createServer((_, response) => {
      calls += 1
      response.setHeader('content-type', 'application/json').end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const write = async (url: string, mode: number): Promise<void> => {
      await writeFile(join(folder, 'data', 'manager.json'), JSON.stringify({ managers: [{ name: 'x', url }] }))
      await chmod(join(folder, 'data', 'manager.json'), mode)
    }
    try {
      await write(`http://127.0.0.1:${port}`, 0o600)
      expect((await type('rules')).err).toContain('no manager is running in this directory')
      expect(calls).toBe(1)
      expect((await type('rules', '--manager', `http://127.0.0.1:${port}`)).err).toContain('is not that of a manager')
      expect(calls).toBe(2)
      await write(`http://0.0.0.0:${port}`, 0o600)
      expect((await type('rules')).err).toContain('no manager is running in this directory')
      await write(`http://127.0.0.1:${port}`, 0o644)
      expect((await type('rules')).err).toContain('manager.json is not used: other users can access it')
      expect(calls).toBe(2)
    } finally {
      server.close()
    }
  })
})

/** A package of this name in the folder writes the file `ran` when it is loaded. */
async function plantPackage(name: string): Promise<void> {
  const path = join(folder, 'node_modules', name)
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }))
  const text = `import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '')
export const applicationFiles = []`
  await writeFile(join(path, 'index.js'), text)
}

describe('row 29: commands that look or delete run no code of a foreign directory', () => {
  const commands = [
    ['down'],
    ['down', '--copy', 'blue'],
    ['ps'],
    ['logs', 'web'],
    ['restart', 'web'],
    ['stop', 'web'],
    ['start', 'web'],
    ['scale', 'web=2'],
    ['wait', 'web', '--for=Ready'],
    ['tree', 'cm/x'],
    ['rules'],
    ['delete', 'cm/x'],
    ['mcp'],
  ]

  test.each(commands)('%s %s %s loads no package of it', async (...words) => {
    await plant({ user: { exec } })
    await plantPackage('@evenkeel/workloads')
    await type(...words.filter(Boolean))
    expect(await hasRun()).toBe(false)
  })

  test('nor of a directory above it', async () => {
    await plantPackage('@evenkeel/workloads')
    const below = join(folder, 'below')
    await mkdir(below)
    await typed(['down'], { cwd: below, env: { KUBECONFIG: join(folder, 'missing') } })
    expect(await hasRun()).toBe(false)
  })

  test('run executes what the directory holds', async () => {
    await plantPackage('@evenkeel/workloads')
    await type('run')
    expect(await hasRun()).toBe(true)
  })
})

describe('row 29: a run.json of a foreign directory ends no process and chooses no namespace', () => {
  let bystander: ReturnType<typeof spawn>
  beforeEach(() => {
    bystander = spawn('sleep', ['1000'], { stdio: 'ignore' })
  })
  afterEach(() => bystander.kill('SIGKILL'))

  /** A record that names a process of the caller that no run has started. */
  async function plantRecord(data: string, { mode = 0o600 } = {}): Promise<string> {
    const { pid = 0 } = bystander
    const path = join(data, 'run.json')
    const startTicks = systemTable().startTicks(pid)
    await writeFile(path, JSON.stringify({ pid, startTicks, namespace: 'other', state: 'ready' }), { mode })
    await chmod(path, mode)
    return path
  }

  test.each([0o644, 0o660])('a record of mode %o is an error', async (mode) => {
    await plant({})
    const path = await plantRecord(join(folder, 'data'), { mode })
    for (const command of ['down', 'run']) {
      const { code, err } = await type(command)
      expect(code).toBe(2)
      expect(err).toContain(`error[bad-file]: ${path} is not used: other users can access it`)
    }
    expect(bystander.signalCode).toBeNull()
  })

  test('a record that is a link is an error', async () => {
    await plant({})
    const path = await plantRecord(join(folder, 'data'))
    await rename(path, join(folder, 'elsewhere'))
    await symlink(join(folder, 'elsewhere'), path)
    expect((await type('down')).err).toContain('run.json is not used: it is a link')
    expect(bystander.signalCode).toBeNull()
  })

  test.each([
    ['data', 'a folder that others can write', 0o777],
    ['data/copies', 'a folder that others can write', 0o777],
    ['data/copies/blue', 'a folder that others can write', 0o770],
    ['data/copies', 'a link', undefined],
    ['data/copies/blue', 'a link', undefined],
  ])('of a copy %s may not be %s', async (name, _, mode) => {
    const copy = join(folder, 'data', 'copies', 'blue')
    await mkdir(copy, { recursive: true, mode: 0o700 })
    await rename(await plant({}), join(copy, 'kubeconfig'))
    await plantRecord(copy)
    const path = join(folder, name)
    if (mode === undefined) {
      await rename(path, join(folder, 'moved'))
      await symlink(join(folder, 'moved'), path)
    } else await chmod(path, mode)
    const because = mode === undefined ? 'it is a link' : 'other users can access it'
    for (const command of ['down', 'ps']) {
      const { code, err } = await type(command, '--copy', 'blue')
      expect(code).toBe(2)
      expect(err).toContain(`error[bad-file]: ${path} is not used: ${because}`)
    }
    expect(bystander.signalCode).toBeNull()
  })

  const discovery: Readonly<Record<string, object>> = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
    '/api/v1': {
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: [
        { name: 'configmaps', singularName: 'configmap', namespaced: true, kind: 'ConfigMap', verbs: ['get'] },
      ],
    },
  }

  test('its namespace is not used on another server', async () => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      const { url = '' } = request
      seen.push(url)
      response.writeHead(url in discovery ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(discovery[url]))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const cluster = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
      await rename(await plant({ cluster }), join(folder, 'mine'))
      await plantRecord(join(folder, 'data'))
      await type('down', '--kubeconfig', join(folder, 'mine'))
      expect(seen.join(' ')).toContain('/namespaces/default/')
      expect(seen.join(' ')).not.toContain('/namespaces/other/')
    } finally {
      server.close()
    }
  })
})
