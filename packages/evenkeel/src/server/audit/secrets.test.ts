import { expect, test } from 'vitest'
import { badRequest } from '#api'
import { createLogger, SimulatedClock } from '#base'
import type { AdmissionHook } from '../admission/admission-hooks.ts'
import { TestServer } from '../client.fixture.ts'

const canary = 'canary-7fKq2'
const coded = Buffer.from(canary).toString('base64')
const secrets = '/api/v1/namespaces/default/secrets'
const accounts = '/api/v1/namespaces/default/serviceaccounts'

type Asked = readonly [method: string, target: string, body: unknown, type?: string]

/** Everything that can be done with a secret, right and wrong. */
const asked: readonly Asked[] = [
  ['POST', secrets, { metadata: { name: 'a' }, stringData: { password: canary }, data: { other: coded } }],
  ['POST', secrets, { metadata: { name: 'a' }, stringData: { password: canary } }],
  ['POST', secrets, { metadata: { name: 'NOT A NAME' }, data: { password: coded } }],
  ['POST', secrets, { metadata: { name: 'b' }, data: { password: `${canary}!!` } }],
  ['POST', secrets, { metadata: { name: 'b' }, type: 'kubernetes.io/basic-auth', data: { [canary]: coded } }],
  [
    'POST',
    secrets,
    { metadata: { name: 'b' }, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': coded } },
  ],
  ['POST', secrets, `{"metadata": {"name": "b"}, "data": {"password": "${canary}`],
  ['POST', secrets, `metadata: {name: b}\ndata: {password: "${canary}`, 'application/yaml'],
  ['POST', secrets, { metadata: { name: 'quoted' }, stringData: { password: canary } }],
  ['PUT', `${secrets}/a`, { metadata: { name: 'a', resourceVersion: '1' }, stringData: { password: canary } }],
  ['PATCH', `${secrets}/a`, { stringData: { password: canary } }, 'application/merge-patch+json'],
  ['PATCH', `${secrets}/a`, [{ op: 'test', path: '/data/password', value: canary }], 'application/json-patch+json'],
  [
    'PATCH',
    `${secrets}/a?fieldManager=x`,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { password: canary } },
    'application/apply-patch+yaml',
  ],
  ['GET', `${secrets}/a`, undefined],
  ['GET', secrets, undefined],
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: canary } }],
  ['POST', accounts, { metadata: { name: 'robot' } }],
  ['POST', `${accounts}/robot/token`, { spec: { audiences: [] } }],
  ['DELETE', `${secrets}/a`, { preconditions: { uid: 'other' } }],
  ['DELETE', `${secrets}/a`, undefined],
]

/** Refuses one object in words that quote it, as policies do. */
const talkative: AdmissionHook = {
  name: 'talkative',
  rules: [{ resources: ['secrets'] }],
  validate({ metadata }) {
    if (metadata.name === 'quoted') throw badRequest(`${canary} is too short for a password`)
    return undefined
  },
}

test('row 22: what is in Secrets and tokens is in no log, no audit event and no metric, at the most talkative settings', async () => {
  const clock = new SimulatedClock()
  const [logged, audited]: [string[], string[]] = [[], []]
  const log = createLogger({
    clock,
    level: 'debug',
    sink: (record) => {
      logged.push(
        JSON.stringify(record, (_key, value: unknown) =>
          value instanceof Error ? `${value.message} ${value.stack ?? ''}` : value,
        ),
      )
    },
  })
  const tested = await TestServer.start({
    log,
    admission: { hooks: [talkative] },
    audit: {
      policy: { rules: [{ level: 'RequestResponse' }] },
      write: (line) => {
        audited.push(line)
      },
    },
  })
  let token = 'none'
  for (const [method, target, body, type] of asked) {
    const { text, json } = await tested.ask(method, target, {
      ...(body !== undefined && { body }),
      ...(type !== undefined && { type }),
      headers: { authorization: `Bearer ${canary}` },
    })
    if (target.endsWith('/token')) token = String(json['status']?.['token'])
    expect(text).not.toContain('undefined')
  }
  expect(token).toMatch(/^ey/)
  const metrics = (await tested.ask('GET', '/metrics')).text
  await tested.server.stop()
  expect(audited.length).toBeGreaterThan(asked.length)
  for (const text of [...logged, ...audited, metrics])
    for (const secret of [canary, coded, token]) expect(text).not.toContain(secret)
})

test('row 22: only who asks for it by name gets the bodies of Secrets into the log', async () => {
  const audited: string[] = []
  const tested = await TestServer.start({
    audit: {
      policy: { rules: [{ level: 'RequestResponse' }] },
      secretBodies: true,
      write: (line) => {
        audited.push(line)
      },
    },
  })
  await tested.ask('POST', secrets, { body: { metadata: { name: 'a' }, stringData: { password: canary } } })
  await tested.server.stop()
  expect(audited.join('\n')).toContain(canary)
})
