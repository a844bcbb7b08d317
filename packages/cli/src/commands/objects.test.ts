import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { action, defineKind, runControllers, type ControllerDeclaration } from 'evenkeel'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { lamp, TestCli } from '../fixtures/cli.fixture.ts'

let cli: TestCli
beforeAll(async () => {
  cli = await TestCli.start()
  await cli.apply(lamp('desk'))
  await cli.typeUntil(['get', 'lamp/desk', '-o', 'yaml'], /reason: Shines/)
})
afterAll(() => cli.stop())

const kubectl = spawnSync('kubectl', ['version', '--client'], { timeout: 20_000 }).status === 0

describe('get', () => {
  test('shows a table with the columns of the kind; plural, singular, short name, kind and group all name it', async () => {
    const { out, code } = await cli.type(['get', 'lamps'])
    expect(code).toBe(0)
    expect(out).toMatch(/^NAME +WATTS\ndesk +60\n$/)
    for (const name of ['lamp', 'lp', 'Lamp', 'lamps.test.dev', 'lamp.v1.test.dev'])
      expect((await cli.type(['get', name])).out).toBe(out)
  })

  test('yaml, json and name print the object itself; a list is a List', async () => {
    expect(parse((await cli.type(['get', 'lamp/desk', '-o', 'yaml'])).out)).toMatchObject({
      kind: 'Lamp',
      spec: { watts: 60 },
    })
    expect(JSON.parse((await cli.type(['get', 'lamp', 'desk', '--json'])).out)).toMatchObject({
      kind: 'Lamp',
      metadata: { name: 'desk' },
    })
    expect(JSON.parse((await cli.type(['get', 'lamps', '-o', 'json'])).out)).toMatchObject({
      kind: 'List',
      items: [{ kind: 'Lamp' }],
    })
    expect((await cli.type(['get', 'lamps,configmaps', '-o', 'name'])).out).toMatch(/^lamp\/desk\nconfigmap\/.*desk/)
  })

  test('-A shows the namespace, -l and --field-selector filter, and stderr stays empty', async () => {
    expect((await cli.type(['get', 'lamps', '-A'])).out).toMatch(/^NAMESPACE +NAME +WATTS\ndefault +desk +60\n$/)
    expect(await cli.type(['get', 'lamps', '-l', 'room=kitchen'])).toMatchObject({
      code: 0,
      out: '',
      err: 'No objects found in namespace default. Use -A for all namespaces.\n',
    })
    expect((await cli.type(['get', 'lamps', '--field-selector', 'metadata.name=desk', '-o', 'name'])).out).toBe(
      'lamp/desk\n',
    )
  })

  test('an unknown kind is an error that suggests a similar one', async () => {
    expect(await cli.type(['get', 'lmaps'])).toEqual({
      code: 1,
      out: '',
      err: 'error[unknown-kind]: the server has no kind called "lmaps"\nTry: lamps\n',
    })
    expect(JSON.parse((await cli.type(['get', 'lmaps', '--json'])).out)).toEqual({
      error: { code: 'unknown-kind', message: 'the server has no kind called "lmaps"', hint: 'lamps' },
    })
  })

  test('F16: -o yaml and json hide managed fields, as kubectl does', async () => {
    for (const words of [
      ['lamp/desk', '-o', 'yaml'],
      ['lamp/desk', '--json'],
      ['lamps', '-o', 'json'],
    ]) {
      expect((await cli.type(['get', ...words])).out).not.toContain('managedFields')
      expect((await cli.type(['get', ...words, '--show-managed-fields'])).out).toContain('managedFields')
    }
  })

  test('F16: an object that does not exist has suggestions: similar names, or the namespace that has it', async () => {
    const tip = async (...words: readonly string[]): Promise<string> =>
      (await cli.type(words)).err.split('\n').slice(1).join('\n')
    for (const words of [
      ['get', 'lamp/dest'],
      ['get', 'lamp', 'dest', '-o', 'yaml'],
      ['describe', 'lamp/dest'],
      ['why', 'lamp/dest'],
      ['delete', 'lamp/dest'],
      ['edit', 'lamp/dest'],
      ['do', 'lamp/dest', 'price'],
    ])
      expect(await tip(...words)).toBe('Try: lamp/desk\n')
    expect(await tip('get', 'lamp/de')).toBe('Try: lamp/desk\n')
    expect(await tip('get', 'lamp/desk', '-n', 'kube-system')).toBe(
      'Try: -n default: lamp/desk exists in namespace default\n',
    )
    expect(await tip('get', 'lamp/other', '-n', 'defualt')).toBe('Try: -n default: namespace defualt does not exist\n')
    expect(await tip('get', 'lamp/zzz')).toBe('Try: evenkeel get lamps -n default\n')
    expect(await tip('get', 'namespace/defautl')).toBe('Try: namespace/default\n')
    expect(JSON.parse((await cli.type(['get', 'lamp/dest', '--json'])).out)).toMatchObject({
      error: { code: 'not-found', hint: 'lamp/desk' },
    })
  })

  test('a missing object is an error', async () => {
    expect(await cli.type(['get', 'lamp/none'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error\[not-found\]: lamps.test.dev "none" not found\n/) as string,
    })
    for (const more of [['-o', 'json'], []])
      expect(await cli.type(['get', 'lamp/none', '-A', ...more])).toMatchObject({
        code: 2,
        err: expect.stringContaining('use -n instead of -A') as string,
      })
  })

  test('the content of an object never controls the terminal', async () => {
    await cli.apply(lamp('evil', { watts: 1, note: '\u001b[2J\u001b]0;title\u0007\rgone' }))
    for (const words of [
      ['get', 'lamp/evil', '-o', 'yaml'],
      ['describe', 'lamp/evil'],
      ['get', 'lamps'],
      ['why', 'lamp/evil'],
    ]) {
      const { out } = await cli.type(words, { columns: 80 })
      // eslint-disable-next-line no-control-regex -- matches characters that must not appear
      expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/)
    }
    await cli.type(['delete', 'lamp/evil'])
    await cli.typeUntil(['get', 'lamp/evil'], /not found/)
  })

  test
    .runIf(kubectl)
    .each([['lamps,configmaps', '-A'], ['namespaces'], ['configmaps', '-o', 'name'], ['lamps', '-o', 'wide']])(
    'has the same rows as kubectl for %s %s',
    async (...words) => {
      const rows = (text: string): string[] =>
        text
          .split('\n')
          .map((line) =>
            line
              .trimEnd()
              .replace(/ {2,}/g, '  ')
              .replace(/(?<= )\d+[smh]\w*$/, 'AGE'),
          )
          .filter((line) => line !== '')
      const type = async (): Promise<string[]> => rows((await cli.type(['get', ...words])).out)
      const kubeconfig = join(cli.folder, 'data', 'kubeconfig')
      let [ours, theirs] = [await type(), '']
      // The controller may still report about a lamp: rows are compared when they are the same before and after.
      for (let isQuiet = false; !isQuiet;) {
        const kubectl = ['--kubeconfig', kubeconfig, 'get', ...words]
        theirs = (await promisify(execFile)('kubectl', kubectl, { timeout: 200_000 })).stdout
        const after = await type()
        isQuiet = JSON.stringify(after) === JSON.stringify(ours)
        ours = after
      }
      // With several kinds kubectl prints the group too; we print words that can be typed.
      expect(ours).toEqual(rows(theirs).map((line) => line.replace(/\.test\.dev(?=\/)/, '')))
    },
  )
})

describe('describe', () => {
  test('shows facts, conditions and events; with --json as data', async () => {
    const { out } = await cli.type(['describe', 'lamp/desk'])
    expect(out).toMatch(/Name: +desk\nNamespace: +default\nKind: +Lamp \(test\.dev\/v1\)/)
    expect(out).toMatch(/Conditions:\n {2}TYPE +STATUS +REASON/)
    expect(out).toMatch(/Ready +True +Shines/)
    expect(JSON.parse((await cli.type(['describe', 'lamp/desk', '--json'])).out)).toMatchObject([
      { object: { kind: 'Lamp' }, events: expect.any(Array) as unknown[] },
    ])
  })

  test('the values of a Secret are shown as their length', async () => {
    await cli.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key' },
      data: { word: Buffer.from('opensesame').toString('base64') },
    })
    const { out } = await cli.type(['describe', 'secret/key'])
    expect(out).toContain('word: 10 bytes')
    expect(out).not.toContain(Buffer.from('opensesame').toString('base64'))
  })
})

describe('apply', () => {
  test('a file whose aliases multiply is a bad file, not a stack trace', async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`)
    const { code, err } = await cli.type(['apply', '-f', '-'], { stdin: `a0: &a0 [x]\n${levels.join('\n')}\n` })
    expect(code).toBe(2)
    expect(err).toBe('error[bad-file]: -: Excessive alias count indicates a resource exhaustion attack\n')
  })

  test('reports created, unchanged and configured; a dry run changes nothing', async () => {
    await writeFile(
      join(cli.folder, 'two.yaml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\ndata: { a: b }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: two }\n',
    )
    expect((await cli.type(['apply', '-f', 'two.yaml', '--dry-run'])).out).toBe(
      'configmap/one created (dry run)\nconfigmap/two created (dry run)\n',
    )
    expect((await cli.type(['apply', '-f', 'two.yaml'])).out).toBe('configmap/one created\nconfigmap/two created\n')
    expect((await cli.type(['apply', '-f', 'two.yaml'])).out).toBe('configmap/one unchanged\nconfigmap/two unchanged\n')
    const changed = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"c"}}'
    expect((await cli.type(['apply', '-f', '-', '--dry-run'], { stdin: changed })).out).toBe(
      'configmap/one configured (dry run)\n',
    )
    const { out } = await cli.type(['apply', '-f', '-', '--json'], { stdin: changed })
    expect(JSON.parse(out)).toEqual({
      outcome: 'configured',
      dryRun: false,
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'one',
      namespace: 'default',
    })
  })

  test.each([
    ['a: [', /^error\[bad-file\]: -: /],
    ['- 1', /^error\[bad-file\]: -: expected an object, got a list/],
    ['kind: ConfigMap', /an object has no apiVersion or kind/],
    ['apiVersion: v1\nkind: ConfigMap', /ConfigMap has no metadata/],
    ['', /no objects in -/],
  ])('rejects %j before any request', async (stdin, says) => {
    expect(await cli.type(['apply', '-f', '-'], { stdin })).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(says) as string,
    })
  })

  test('reports a rejection by the server as refused, and a missing file as bad-file', async () => {
    expect(await cli.type(['apply', '-f', '-'], { stdin: JSON.stringify(lamp('dark', { watts: -1 })) })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error\[refused\]: .*watts/) as string,
    })
    expect(await cli.type(['apply', '-f', 'none.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error\[bad-file\]: .*none\.yaml/) as string,
    })
    expect(await cli.type(['apply'])).toMatchObject({
      code: 2,
      err: 'error[usage]: no file is given\nTry: -f FILE, or -f - to read standard input\n',
    })
  })
})

describe('delete', () => {
  test('deletes by name and by file; a missing object is an error without --ignore-not-found', async () => {
    await cli.apply(lamp('old'))
    await cli.typeUntil(['get', 'lamp/old', '-o', 'yaml'], /finalizers/)
    expect((await cli.type(['delete', 'lamp/old'])).out).toMatch(
      /^lamp\/old (?:deleted|is being deleted and waits for test\.dev\/lamp \(evenkeel why lamp\/old\))\n$/,
    )
    await cli.typeUntil(['get', 'lamp/old'], /not-found/)
    expect((await cli.type(['delete', 'lamp/old'])).code).toBe(1)
    expect((await cli.type(['delete', 'lamp/old', '--ignore-not-found'])).code).toBe(0)
    expect(await cli.type(['delete', 'lamps'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('to delete, or use labels with -l') as string,
    })
  })
})

describe('watch and logs', () => {
  test('watch prints existing objects, then every change with the changed fields', async () => {
    const stop = new AbortController()
    let text = ''
    const watching = cli.type(['watch', 'configmaps', 'seen', '--json'], {
      signal: stop.signal,
      onOut: (piece) => {
        text += piece
        if (text.includes('data.a')) stop.abort()
      },
    })
    await cli.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen' }, data: { a: 'b' } })
    await cli.typeUntil(['get', 'configmap/seen', '-o', 'name'], /seen/)
    for (let round = 0; !stop.signal.aborted && round < 50; round++)
      await cli.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen' }, data: { a: String(round) } })
    expect((await watching).code).toBe(0)
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; changes: string[] })
    expect(events.at(-1)).toMatchObject({ type: 'MODIFIED', changes: [expect.stringMatching(/^data\.a ".*" → ".*"$/)] })
  })

  test('logs prints events, or that there are none', async () => {
    expect(await cli.type(['logs', 'configmap/kube-root-ca.crt'])).toMatchObject({
      code: 0,
      out: '',
      err: 'No events.\n',
    })
    expect(await cli.type(['logs', 'lamp/desk', '--tail', 'many'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--tail must be a number of lines') as string,
    })
  })
})

describe('do', () => {
  test('lists the actions', async () => {
    const { out } = await cli.type(['do', 'lamp/desk'])
    expect(out).toMatch(/^ACTION +FORM +ABOUT +WHEN\n/)
    expect(out).toMatch(/off +state +Makes it dark\./)
    expect(JSON.parse((await cli.type(['do', 'lamp/desk', '--json'])).out)).toMatchObject([
      { name: 'off', form: 'state' },
      { name: 'blink', form: 'token' },
      { name: 'price', form: 'call' },
    ])
  })

  test('runs actions: writes a state, returns the result of a call, asks for confirmation of a dangerous one', async () => {
    expect(await cli.type(['do', 'lamp/desk', 'price'])).toMatchObject({ code: 0, out: '{"perHour":1}\n' })
    expect(await cli.type(['do', 'lamp/desk', 'blink'])).toMatchObject({
      code: 2,
      err: 'error[usage]: This wakes people (nothing was changed)\nTry: evenkeel do lamp/desk blink --yes\n',
    })
    expect(await cli.type(['do', 'lamp/desk', 'blink', '--yes'])).toMatchObject({
      code: 0,
      out: 'lamp/desk: blink requested\n',
    })
    expect(await cli.type(['do', 'lamp/desk', 'off'])).toMatchObject({
      code: 0,
      out: 'lamp/desk: off requested (spec changed)\n',
    })
    expect((await cli.type(['get', 'lamp/desk'])).out).toMatch(/desk +0\n/)
  })

  test('a call whose controller runs elsewhere returns the result of an Operation', async () => {
    const ring = action('ring', {
      form: 'call',
      answer: ({ input }) => ({ rang: input ?? 'once' }),
      input: { type: 'string' },
    })
    const Bell = defineKind({ group: 'test.dev', version: 'v1', kind: 'Bell', spec: { type: 'object' } })
    const stop = new AbortController()
    const kubeconfig = join(cli.folder, 'data', 'kubeconfig')
    let running = Promise.resolve()
    await new Promise<void>((resolve, reject) => {
      running = runControllers(stop.signal, {
        controllers: [
          { for: Bell, verbs: [ring], reconcile: () => undefined } as ControllerDeclaration<
            typeof Bell
          > as unknown as ControllerDeclaration,
        ],
        kubeconfig,
        leaderElection: false,
        onReady: () => {
          resolve()
        },
      })
      running.catch(reject)
    })
    await cli.apply({ apiVersion: 'test.dev/v1', kind: 'Bell', metadata: { name: 'door' }, spec: {} })
    expect(await cli.type(['do', 'bell/door', 'ring', '--input', '"twice"'])).toMatchObject({
      code: 0,
      out: '{"rang":"twice"}\n',
    })
    stop.abort()
    await running
  })

  test('rejects an unknown action, a missing object and an input that is not JSON', async () => {
    expect(await cli.type(['do', 'lamp/desk', 'of'])).toMatchObject({
      code: 2,
      err: 'error[usage]: lamp has no action "of": its actions are off, blink, price\nTry: off\n',
    })
    expect((await cli.type(['do', 'lamp/none', 'off'])).err).toMatch(/^error\[not-found\]/)
    expect((await cli.type(['do', 'lamp/desk', 'off', '--input', '{'])).err).toMatch(
      /^error\[usage\]: --input is not JSON/,
    )
  })
})
