/** The files of `evenkeel run`: found, read, and refused before anything is started. */
/* eslint-disable no-template-curly-in-string -- variables of the files that are read */
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { typed, type Said } from '../fixtures/cli.fixture.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-application-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const run = (...words: readonly string[]): Promise<Said> => typed(['run', ...words], { cwd: folder })
const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)

describe('evenkeel run', () => {
  test('without a file says what it looks for', async () => {
    expect(await run()).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        'there is none of evenkeel.yaml, evenkeel.yml, app.ts, process-compose.yaml, process-compose.yml, compose.yaml',
      ) as string,
    })
  })

  test('W32: takes the first file that is there, prints warnings, and names every mistake; nothing is started', async () => {
    await write('Procfile', 'web: a')
    await write('compose.yaml', 'services:\n  web:\n    image: web\n    hostname: a\n    extends: b\n    deploy: {}\n')
    expect(await run()).toEqual({
      code: 2,
      out: '',
      err: `Warning: compose.yaml:4: services.web.hostname: not supported; it is ignored
error[bad-file]: compose.yaml:5: services.web.extends: not supported: write the fields of the other service here, or share them with an anchor (x-base: &base, <<: *base)
compose.yaml:6: services.web.deploy: not supported: remove it; copies of a program are a ProcessSet in evenkeel.yaml
Try: correct compose.yaml; nothing was started
`,
    })
    expect((await readdir(folder)).toSorted()).toEqual(['Procfile', 'compose.yaml'])
  })

  test('reads several files together, with .env beside each', async () => {
    await mkdir(join(folder, 'app'))
    await write('app/.env', 'NAME=web\n')
    await write('app/process-compose.yaml', 'processes: { web: { command: "${NAME}" } }')
    await write('Procfile', 'web: b')
    const { code, err } = await run('app/process-compose.yaml', 'Procfile')
    expect(code).toBe(2)
    expect(err).toContain('Procfile:1: metadata.name: Process web is there twice, first in app/process-compose.yaml:1')
  })

  const web = { command: ['/bin/sh', '-c', 'pwd >where'], cwd: 'sub', restart: { policy: 'Never' } }
  const object = { apiVersion: 'workloads.evenkeel.dev/v1', kind: 'Process', metadata: { name: 'web' }, spec: web }
  test.each([
    ['app.mjs', `export const objects = [${JSON.stringify(object)}]`],
    ['evenkeel.yaml', JSON.stringify(object)],
    ['process-compose.yaml', 'processes: { web: { command: pwd >where, working_dir: sub } }'],
  ])(
    'paths in %s begin at its folder, wherever the command runs',
    async (name, text) => {
      await mkdir(join(folder, 'app', 'sub'), { recursive: true })
      await write(join('app', name), text)
      const { code, err } = await run(`app/${name}`, '--memory', '--exit-on', 'web')
      expect(code, err).toBe(0)
      const sub = join(await realpath(folder), 'app', 'sub')
      expect(await readFile(join(sub, 'where'), 'utf8')).toBe(`${sub}\n`)
    },
    60_000,
  )

  test('--only takes in the Service whose address is in a variable, and what is behind it', async () => {
    const part = (kind: string, name: string, spec: object): string =>
      JSON.stringify({
        apiVersion: 'workloads.evenkeel.dev/v1',
        kind,
        metadata: { name, labels: { app: name } },
        spec: { ...spec },
      })
    // Mistakes show which objects are part of it, before anything is started.
    const mistaken = (name: string) => part('Process', name, { command: ['a'], dependsOn: [{ name }] })
    const env = [{ name: 'URL', valueFrom: { service: { name: 'data' } } }]
    const parts = [
      part('Process', 'client', { command: ['a'], env }),
      part('Service', 'data', { selector: { matchLabels: { app: 'db' } } }),
      mistaken('db'),
      mistaken('other'),
    ]
    await write('evenkeel.yaml', parts.join('\n---\n'))
    expect(await run('--only', 'client')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^error\[bad-file\]: evenkeel\.yaml:5: spec\.dependsOn\[0\]: Process db depends on itself: remove it\nTry: /,
      ) as string,
    })
  })

  test('W31: a mistake in .env is named with its line', async () => {
    await write('.env', 'A=1\nB="open\n')
    await write('process-compose.yaml', 'processes: { web: { command: a } }')
    expect(await run()).toMatchObject({ code: 2, err: 'error[bad-file]: .env:2: the value has no closing "\n' })
  })

  test.each([
    [['--only', 'wbe'], 'error[usage]: --only: no workload is called wbe: there are web\nTry: --only web\n'],
    [['--copy', 'Blue!'], /--copy must be a name in lower case/],
    [['--copy', 'blue', '-n', 'a'], /--copy has a namespace of its own/],
    [['--timeout', '5s'], /--timeout is for --wait/],
    [['--shutdown-timeout', '5'], /--shutdown-timeout must be a time with its unit/],
    [['--port', '70000'], /--port must be a number up to 65535/],
    [['missing.yaml'], /missing\.yaml/],
    [['missing.ts'], /missing\.ts does not exist/],
  ])('A.4: %j is a mistake in one line', async (words, says) => {
    await write('Procfile', 'web: a')
    const { code, out, err } = await run(...words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(says instanceof RegExp ? says : new RegExp(says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
  })

  test('A.4: what the server refuses is named with its line; nothing is left behind', async () => {
    const web = (spec: string): string =>
      `apiVersion: workloads.evenkeel.dev/v1\nkind: Process\nmetadata: { name: web }\nspec: ${spec}\n`
    const ports = 'ports: [{ name: http, port: 70000 }], stop: { signal: SIGFOO, gracePeriodSeconds: -1 }'
    await write(
      'evenkeel.yaml',
      `# first\n${web(`{ command: [a], ${ports} }`)}---\n${web('{ command: [a], colour: red }').replace('web', 'api')}`,
    )
    const { code, err } = await run('--memory')
    expect(code).toBe(2)
    expect(err).toMatch(/^error\[bad-file\]: evenkeel\.yaml:2: .*spec\.ports\[0\]\.port: .*65535/)
    expect(err).toContain('spec.stop.gracePeriodSeconds')
    expect(err).toContain('spec.stop.signal')
    expect(err).toMatch(/\nevenkeel\.yaml:7: .*colour/)
    expect(await readdir(join(folder, 'data'))).not.toContain('run.json')
  })
})
