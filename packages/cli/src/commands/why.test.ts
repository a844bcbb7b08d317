import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'evenkeel/client'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lamp, TestCli } from '../fixtures/cli.fixture.ts'
import type { WhyAnswer } from '../why-answer.ts'

interface Why {
  readonly object: object
  readonly answers: readonly WhyAnswer[]
}

function messagesOf(answer: WhyAnswer | undefined): string {
  return answer?.reasons.map(({ message }) => message).join('\n') ?? ''
}

/** A kind without a controller, whose status a test can write. */
const databases = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'databases.test.dev' },
  spec: {
    group: 'test.dev',
    scope: 'Namespaced',
    names: { plural: 'databases', singular: 'database', kind: 'Database' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

function condition(
  type: string,
  status: string,
  { reason = 'R', message = '', time = '2026-01-01T00:00:00Z' } = {},
): object {
  return { type, status, reason, message, lastTransitionTime: time }
}

function database(name: string, status: object, finalizers: readonly string[] = []): object {
  return {
    apiVersion: 'test.dev/v1',
    kind: 'Database',
    metadata: { name, namespace: 'default', finalizers },
    status,
  }
}

let cli: TestCli
beforeAll(async () => {
  cli = await TestCli.start()
  await cli.apply(lamp('desk'))
  await cli.apply(lamp('sun', { watts: 5000 }))
  await cli.apply(lamp('stuck'))
  await cli.typeUntil(['get', 'lamps', '-o', 'yaml'], /TooBright/)
  for (const name of ['desk', 'stuck']) await cli.typeUntil(['get', `lamp/${name}`, '-o', 'yaml'], /Shines/)
  await cli.type(['delete', 'lamp/stuck'])
  await cli.typeUntil(['get', 'lamp/stuck', '-o', 'yaml'], /the bulb is hot/)
  await cli.apply(databases)
  await cli.typeUntil(['get', 'databases'], /No objects/)
})
afterAll(() => cli.stop())

async function why(...words: readonly string[]): Promise<Why> {
  return JSON.parse((await cli.type(['why', ...words, '--json'])).out) as Why
}

describe('why', () => {
  test('explains that an object is ready, which manager wrote it last, and why its controller ran', async () => {
    const { code, out } = await cli.type(['why', 'lamp/desk'])
    expect(code).toBe(0)
    expect(out).toMatch(/^lamp\/desk in default\n\nIs it ready\? Yes: Shines\.\n/)
    expect(out).toContain('Why did it change? lamp wrote it last.')
    expect(out).toMatch(/Why did its controller run\? The ledger has \d+ reconciles\./)
    expect(out).toContain('because lamp/desk in default was created (for Lamp)')
  })

  test('explains by its conditions why an object is not ready', async () => {
    const {
      answers: [answer],
    } = await why('lamp/sun', '-q', 'not-ready')
    expect(answer).toMatchObject({
      question: 'not-ready',
      answer: 'no, it is TooBright: 5000 watts are more than the 100 that the socket bears',
    })
    expect(answer?.reasons[0]).toEqual({
      kind: 'condition',
      condition: 'Ready',
      message: 'condition Ready is False: TooBright, 5000 watts are more than the 100 that the socket bears',
      at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    })
    expect((await cli.type(['why', 'lamp/sun', '-q', 'not-ready'])).out).toMatch(
      /\n {2}- condition Ready is False: TooBright, 5000 watts .* bears \(for \w+\)\n/,
    )
  })

  test('F15: says of an object without readiness that it reports none', async () => {
    const { answers } = await why('configmap/desk', '-q', 'not-ready')
    expect(answers[0]?.answer).toBe('it reports no readiness')
  })

  test('F15: names whole fields, also those with dots', async () => {
    const labelled = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'labelled', labels: { 'app.kubernetes.io/name': 'a' }, annotations: { plain: 'b' } },
      data: { 'file.txt': 'c' },
    }
    await cli.type(['apply', '-f', '-'], { stdin: JSON.stringify(labelled) })
    const { answers } = await why('configmap/labelled', '-q', 'changed')
    expect(messagesOf(answers[0])).toMatch(
      /wrote data\["file\.txt"\], metadata\.annotations\.plain, metadata\.labels\["app\.kubernetes\.io\/name"\]/,
    )
    expect(answers[0]?.reasons.find(({ kind }) => kind === 'write')).toMatchObject({
      fields: ['data["file.txt"]', 'metadata.annotations.plain', 'metadata.labels["app.kubernetes.io/name"]'],
      at: expect.any(String) as string,
    })
  })

  test('explains why an object still exists: the finalizer, its reason, and advice', async () => {
    const { answers } = await why('lamp/stuck')
    expect(answers[0]).toMatchObject({
      question: 'still-here',
      answer: expect.stringMatching(
        /^it was deleted \w+ ago; test\.dev\/lamp blocks its deletion: waits for the bulb is hot$/,
      ) as string,
    })
    expect(answers[0]?.reasons[0]).toEqual({
      kind: 'finalizer',
      message: expect.stringMatching(/^test\.dev\/lamp: .*after the cleanup/) as string,
      field: 'metadata.finalizers',
    })
    expect(answers[0]?.try?.join('\n')).toContain('evenkeel finalizers force lamp/stuck')
  })

  test('explains which reconcile wrote an object, and its cause', async () => {
    const {
      answers: [answer],
    } = await why('configmap/desk', '-q', 'changed')
    expect(answer?.reasons.slice(0, 2)).toMatchObject([
      { kind: 'reconcile', message: expect.stringMatching(/^reconcile \w+ of lamp wrote version \d+$/) as string },
      { kind: 'cause', message: expect.stringMatching(/^lamp\/desk in default was created/) as string },
    ])
  })

  test('F15: --json has sentences and facts, without layout', async () => {
    const { object, answers } = await why('lamp/desk')
    expect(object).toEqual({ apiVersion: 'test.dev/v1', kind: 'Lamp', name: 'desk', namespace: 'default' })
    expect(answers.map(({ question }) => question)).toEqual(['not-ready', 'changed', 'ran'])
    for (const { answer, reasons } of answers)
      for (const text of [answer, ...reasons.map(({ message }) => message)]) {
        expect(text).toBe(text.trim())
        expect(text).not.toMatch(/\n|\.$/)
      }
    expect(answers[0]).toEqual({ question: 'not-ready', answer: 'yes: Shines', reasons: [] })
  })

  test('F15: a warning from before an object became ready is no problem any more', async () => {
    const warning = (name: string, time: string): object => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: { apiVersion: 'test.dev/v1', kind: 'Database', name: 'fine', namespace: 'default' },
      type: 'Warning',
      reason: 'Slow',
      message: `it was slow (${name})`,
      lastTimestamp: time,
      source: { component: 'probe' },
    })
    await cli.apply(
      database('fine', { conditions: [condition('Ready', 'True', { reason: 'Up', time: '2026-01-01T00:00:10Z' })] }),
    )
    await cli.apply(warning('before', '2026-01-01T00:00:05Z'))
    expect((await why('database/fine', '-q', 'not-ready')).answers[0]).toMatchObject({ answer: 'yes: Up', reasons: [] })
    await cli.apply(warning('after', '2026-01-01T00:00:20Z'))
    expect((await why('database/fine', '-q', 'not-ready')).answers[0]).toMatchObject({
      answer: 'yes, with problems: Up',
      reasons: [{ kind: 'event', message: 'probe warned: Slow, it was slow (after)', at: '2026-01-01T00:00:20Z' }],
    })
  })

  test('F15: a Deployment without nodes is not told to run its controller', async () => {
    await cli.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    })
    const {
      answers: [answer],
    } = await why('deployment/web', '-q', 'not-ready')
    expect(messagesOf(answer)).toContain('this server has no nodes: nothing runs its pods')
    expect(answer?.try?.join('\n')).not.toContain('evenkeel up')
    expect(answer?.try).toContain('evenkeel describe deployment/web')
  })

  test('F15: still-here and finalizers list give the reason that another condition knows', async () => {
    const status = {
      conditions: [
        condition('Finalizing', 'True', { reason: 'Waiting', message: 'test.dev/db needs more time' }),
        condition('Synced', 'False', { reason: 'Deleting', message: 'deletion failed: databases does not answer' }),
        condition('Ready', 'False', { reason: 'Finalizing', message: 'it is being deleted' }),
      ],
    }
    await cli.apply(database('slow', status, ['test.dev/db']))
    await cli.type(['delete', 'database/slow'])
    const {
      answers: [answer],
    } = await why('database/slow', '-q', 'still-here')
    expect(answer?.answer).toMatch(/test\.dev\/db blocks its deletion: deletion failed: databases does not answer$/)
    expect(messagesOf(answer)).not.toContain('it is being deleted')
    const { out } = await cli.type(['finalizers', 'list', '-A'])
    expect(out).toMatch(/database\/slow +\w+ +test\.dev\/db +deletion failed: databases does not answer\n/)
    await cli.type(['finalizers', 'force', 'database/slow', '--yes'])
  })

  test('reads every manager listed in the folder and skips one that is gone', async () => {
    const file = join(cli.folder, 'data', 'manager.json')
    const before = await readFile(file, 'utf8')
    await writeFile(
      file,
      JSON.stringify({
        managers: [
          { name: 'gone', url: 'http://127.0.0.1:9' },
          { name: 'test', url: cli.managerUrl },
        ],
      }),
    )
    expect((await cli.type(['doctor'])).out).toMatch(/✓ controller lamp: running/)
    await writeFile(file, before)
  })

  test('answers without a manager too, and says what a manager would add', async () => {
    const { out, code } = await cli.type(['why', 'lamp/desk', '--kubeconfig', `${cli.folder}/data/kubeconfig`], {
      env: {},
    })
    expect(code).toBe(0)
    expect(out).not.toContain('no manager')
    const { err } = await cli.type(['why', 'lamp/desk', '--manager', 'http://127.0.0.1:9'])
    expect(err).toMatch(/^error\[no-server\]: no response from the manager at http:\/\/127\.0\.0\.1:9/)
    expect((await cli.type(['why', 'lamp/desk', '--manager', 'nonsense'])).err).toMatch(
      /^error\[usage\]: --manager must be a URL/,
    )
  })

  test('accepts one object', async () => {
    expect(await cli.type(['why', 'lamps'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error\[usage\]: name one object: KIND\/NAME\nTry: lamp\//) as string,
    })
    expect(await cli.type(['why', 'lamp/desk', '-q', 'whence'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--question must be one of not-ready, still-here, changed, ran') as string,
    })
  })
})

describe('tree', () => {
  test('shows the dependents of an object and their state', async () => {
    expect((await cli.type(['tree', 'lamp/desk'])).out).toBe('✓ Lamp/desk  Ready\n└─ · ConfigMap/desk  exists\n')
    expect(JSON.parse((await cli.type(['tree', 'lamp/desk', '--json'])).out)).toMatchObject({
      kind: 'Lamp',
      state: { isGood: true },
      children: [{ kind: 'ConfigMap', name: 'desk', children: [] }],
    })
  })

  test('a cycle of owners ends', async () => {
    const client = new Client({ transport: cli.ready.manager.transport })
    const [a, b] = await Promise.all(
      ['ring-a', 'ring-b'].map((name) =>
        client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } }),
      ),
    )
    for (const [child, owner] of [
      [a, b],
      [b, a],
    ]) {
      if (child && owner)
        await client.patch(child, {
          metadata: {
            ownerReferences: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid },
            ],
          },
        })
    }
    expect((await cli.type(['tree', 'configmap/ring-a'])).out).toBe(
      '· ConfigMap/ring-a  exists\n└─ · ConfigMap/ring-b  exists\n',
    )
  })
})

describe('finalizers', () => {
  test('list shows blocked deletions with age and reason', async () => {
    const { out } = await cli.type(['finalizers', 'list', '-A'])
    expect(out).toMatch(
      /^NAMESPACE +OBJECT +SINCE +WAITS FOR +WHY\ndefault +lamp\/stuck +\w+ +test\.dev\/lamp +.*the bulb is hot/,
    )
    expect(JSON.parse((await cli.type(['finalizers', 'list', '--json'])).out)).toMatchObject([
      { kind: 'Lamp', name: 'stuck', finalizers: ['test.dev/lamp'] },
    ])
  })

  test('force rejects an object that is not being deleted or does not have the finalizer', async () => {
    expect((await cli.type(['finalizers', 'force', 'lamp/desk', '--yes'])).err).toMatch(
      /^error\[usage\]: lamp\/desk is not being deleted\nTry: evenkeel delete lamp\/desk first/,
    )
    expect((await cli.type(['finalizers', 'force', 'lamp/stuck', '--finalizer', 'a/b'])).err).toContain(
      'has no finalizer a/b; its finalizers are test.dev/lamp',
    )
    expect((await cli.type(['finalizers', 'force', 'configmap/desk'])).err).toContain('has no finalizers')
    expect((await cli.type(['finalizers', 'remove'])).code).toBe(2)
  })

  test('F15: force lists only what exists', async () => {
    const part = (kind: string, name: string, namespace = 'default'): object => ({
      group: '',
      kind,
      name,
      namespace,
      apiVersion: 'v1',
      state: 'Ready',
    })
    const secret = (annotations: object): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pw', namespace: 'default', annotations },
    })
    const status = {
      children: [part('ConfigMap', 'far', 'kube-system')],
      dependencies: [part('Secret', 'pw'), part('Secret', 'gone')],
    }
    await cli.apply(secret({}))
    await cli.apply(database('user', status, ['test.dev/db']))
    await cli.type(['delete', 'database/user'])
    const { out } = await cli.type(['get', 'database/user', '-o', 'json'])
    const { uid } = (JSON.parse(out) as { metadata: { uid: string } }).metadata
    const force = ['finalizers', 'force', 'database/user']
    expect(JSON.parse((await cli.type([...force, '--json'])).out)).toMatchObject({
      mayLeak: ['resources that test.dev/db protects'],
    })

    await cli.apply(secret({ 'used-by.test.dev/1a2b': `Database default/user ${uid}` }))
    await cli.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'far', namespace: 'kube-system' } })
    expect(JSON.parse((await cli.type([...force, '--json', '--yes'])).out)).toMatchObject({
      mayLeak: [
        'configmap/far in kube-system, which no owner reference reaches',
        'the annotation used-by.test.dev/1a2b on its dependency secret/pw in default',
        'resources that test.dev/db protects',
      ],
    })
  })

  test('A33: force prints what may leak and changes nothing; with --yes it removes the finalizer and records an Event', async () => {
    const first = await cli.type(['finalizers', 'force', 'lamp/stuck'])
    expect(first.code).toBe(1)
    expect(first.out).toContain(
      'May leak:\n  - the external resource with id socket-stuck\n  - resources that test.dev/lamp protects\n',
    )
    expect((await cli.type(['get', 'lamp/stuck', '-o', 'name'])).out).toBe('lamp/stuck\n')

    const done = await cli.type(['finalizers', 'force', 'lamp/stuck', '--yes', '--json'])
    expect(JSON.parse(done.out)).toEqual({
      taken: ['test.dev/lamp'],
      mayLeak: ['the external resource with id socket-stuck', 'resources that test.dev/lamp protects'],
    })
    await cli.typeUntil(['get', 'lamp/stuck'], /not-found/)
    const { out } = await cli.type(['get', 'events', '-o', 'json'])
    const { items } = JSON.parse(out) as {
      items: { reason: string; message: string; type: string; involvedObject: { name: string } }[]
    }
    expect(
      items.find(({ reason, involvedObject }) => reason === 'FinalizerForced' && involvedObject.name === 'stuck'),
    ).toMatchObject({
      type: 'Warning',
      involvedObject: { kind: 'Lamp', name: 'stuck' },
      message: expect.stringContaining('may leak: the external resource with id socket-stuck') as string,
    })
  })
})

describe('rules', () => {
  test('reports no findings, then a finding with exit code 1', async () => {
    expect(await cli.type(['rules'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^No findings/) as string,
    })
    await cli.ready.manager.client.list({ apiVersion: 'v1', kind: 'Node' })
    const { code, out } = await cli.type(['rules', '--manager', cli.managerUrl])
    expect(code).toBe(1)
    expect(out).toMatch(
      /^! privilege: list nodes in group "" needs a permission that no declaration requests\n {2}about list nodes, once\n {2}try: /,
    )
    expect(JSON.parse((await cli.type(['rules', '--json'])).out)).toMatchObject([
      { rule: 'privilege', severity: 'warning', about: 'list nodes' },
    ])
  })
})
