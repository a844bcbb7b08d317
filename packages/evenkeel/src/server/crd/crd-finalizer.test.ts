import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { TestServer } from '../client.fixture.ts'

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const path = `${crds}/widgets.demo.example.com`
const widgets = '/apis/demo.example.com/v1/namespaces/default/widgets'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
})

interface Wanted {
  readonly plural?: string
  readonly group?: string
  readonly kind?: string
  readonly annotations?: object
}

function definition({
  plural = 'widgets',
  group = 'demo.example.com',
  kind = 'Widget',
  annotations = {},
}: Wanted = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, shortNames: ['wd'] },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
}

const post = (body: object, to = crds): ReturnType<TestServer['ask']> => tested.ask('POST', to, { body })
const widget = (name: string, finalizers: readonly string[] = []): object => ({
  apiVersion: 'demo.example.com/v1',
  kind: 'Widget',
  metadata: { name, finalizers },
})
const conditionOf = async (name: string, of = path): Promise<unknown> => {
  const conditions = (await tested.ask('GET', of)).json['status']?.['conditions'] as unknown as readonly {
    type: string
  }[]
  return conditions.find((condition) => condition.type === name)
}

describe('the end of a definition', () => {
  beforeEach(async () => {
    await post(definition())
    await post(widget('free'), widgets)
    await post(widget('held', ['example.com/wait']), widgets)
  })

  test('is said step by step while instances keep it', async () => {
    expect((await tested.ask('DELETE', path)).json['status']?.['conditions']).toMatchObject([
      { type: 'NamesAccepted' },
      { type: 'Established' },
      {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      },
    ])
    const inProgress = {
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    }
    expect(await conditionOf('Terminating')).toMatchObject(inProgress)
    expect((await tested.ask('GET', '/apis/demo.example.com/v1')).json['resources']).toMatchObject([
      { verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'] },
    ])
    await tested.clock.advance(60_000)
    expect(await conditionOf('Terminating')).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionCheck',
      message: 'could not confirm zero CustomResources remaining: context deadline exceeded',
    })
    await tested.clock.advance(1000)
    expect(await conditionOf('Terminating')).toMatchObject(inProgress)
  })

  test('lets nothing new in, shows watchers the instances go, and itself as emptied', async () => {
    const [instances, definitions] = [
      await tested.watch(`${widgets}?watch=true`),
      await tested.watch(`${crds}?watch=true&fieldSelector=metadata.name%3Dwidgets.demo.example.com`),
    ]
    expect(await instances.take(2)).toEqual(['ADDED free', 'ADDED held'])
    await tested.ask('DELETE', path)
    expect(await instances.take(2)).toEqual(['DELETED free', 'MODIFIED held'])
    const refused = {
      status: 403,
      json: {
        message:
          'widgets.demo.example.com "new" is forbidden: create not allowed while custom resource definition is terminating',
      },
    }
    expect(await post(widget('new'), widgets)).toMatchObject(refused)
    expect(
      await tested.ask('PATCH', `${widgets}/new?fieldManager=m`, {
        type: 'application/apply-patch+yaml',
        body: widget('new'),
      }),
    ).toMatchObject(refused)
    await tested.ask('PATCH', `${widgets}/held`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    expect(await instances.take(1)).toEqual(['DELETED held'])
    await tested.clock.advance(1000)
    expect(await instances.take(1)).toEqual(['END'])
    const events = [
      await definitions.next(),
      await definitions.next(),
      await definitions.next(),
      await definitions.next(),
    ]
    expect(events.map((event) => event?.type)).toEqual(['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'])
    expect((await tested.ask('GET', path)).status).toBe(404)
    await definitions.close()
  })

  test('takes the instances along also when no version is served any more', async () => {
    const [version] = (definition() as { spec: { versions: readonly object[] } }).spec.versions
    const type = 'application/merge-patch+json'
    await tested.ask('PATCH', `${widgets}/held`, { type, body: { metadata: { finalizers: null } } })
    await tested.ask('PATCH', path, { type, body: { spec: { versions: [{ ...version, served: false }] } } })
    expect((await tested.ask('GET', widgets)).status).toBe(404)
    expect((await tested.ask('DELETE', path)).status).toBe(200)
    expect((await post(definition())).status).toBe(201)
    expect((await tested.ask('GET', widgets)).json['items']).toEqual([])
  })

  test('leaves room for another of its name', async () => {
    await tested.ask('PATCH', `${widgets}/held`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    expect((await tested.ask('DELETE', path)).status).toBe(200)
    expect((await tested.ask('GET', path)).status).toBe(404)
    expect((await post(definition())).status).toBe(201)
    expect((await tested.ask('GET', widgets)).json['items']).toEqual([])
    expect((await post(widget('free'), widgets)).status).toBe(201)
  })
})

test('a definition whose instances cannot be deleted says so, and is tried again less and less often', async () => {
  let isBroken = true
  let asked = 0
  const conversions = {
    'widgets.demo.example.com': (object: UnstructuredObject) => {
      asked++
      if (isBroken) throw new Error('no')
      return object
    },
  }
  await tested.server.stop()
  tested = await TestServer.start({ conversions })
  const two = (stored: string): object => ({
    spec: {
      ...(definition() as { spec: object }).spec,
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === stored,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    },
  })
  await post({ ...definition(), ...two('v1') })
  await post(widget('held', ['example.com/wait']), widgets)
  await tested.ask('PATCH', path, { type: 'application/merge-patch+json', body: two('v2') })
  await tested.ask('DELETE', path)
  expect(await conditionOf('Terminating')).toMatchObject({
    status: 'True',
    reason: 'InstanceDeletionFailed',
    message: 'could not issue all deletes: conversion function for demo.example.com/v1, Kind=Widget failed: no',
  })
  await tested.clock.advance(63_000)
  expect(asked).toBeLessThan(10)
  const before = asked
  await tested.clock.advance(59_999)
  expect(asked).toBe(before)
  await tested.clock.advance(1)
  expect(asked).toBe(before + 1)
  isBroken = false
  await tested.clock.advance(60_000)
  await tested.ask('PATCH', `${widgets}/held`, {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  })
  await tested.clock.advance(1000)
  expect((await tested.ask('GET', path)).status).toBe(404)
})

test('a definition that never got its names goes without a word about instances', async () => {
  await post(definition())
  await post(definition({ plural: 'gadgets', kind: 'Gadget' }))
  const gadgets = `${crds}/gadgets.demo.example.com`
  expect(await conditionOf('NamesAccepted', gadgets)).toMatchObject({ status: 'False', reason: 'ShortNamesConflict' })
  expect((await tested.ask('DELETE', gadgets)).status).toBe(200)
  expect((await tested.ask('GET', gadgets)).status).toBe(404)
})

test('names that a definition gives up go to those that wait for them', async () => {
  await post(definition())
  await post(definition({ plural: 'gadgets', kind: 'Gadget' }))
  await tested.ask('PATCH', path, {
    type: 'application/merge-patch+json',
    body: { spec: { names: { shortNames: ['other'] } } },
  })
  expect(await conditionOf('Established', `${crds}/gadgets.demo.example.com`)).toMatchObject({ status: 'True' })
})

test('a definition of something built in changes nothing, and takes nothing along when it goes', async () => {
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' }
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  await post({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: {} }, leases)
  expect(
    (await post(definition({ plural: 'leases', group: 'coordination.k8s.io', kind: 'Lease', annotations }))).status,
  ).toBe(201)
  expect(
    await conditionOf('KubernetesAPIApprovalPolicyConformant', `${crds}/leases.coordination.k8s.io`),
  ).toMatchObject({ status: 'False', reason: 'UnapprovedAnnotation', message: 'not approved: "unapproved, a test"' })
  expect((await tested.ask('DELETE', `${crds}/leases.coordination.k8s.io`)).status).toBe(200)
  expect((await tested.ask('GET', `${leases}/a`)).status).toBe(200)
})

test.each([
  [
    'https://example.com/1',
    { status: 'True', reason: 'ApprovedAnnotation', message: 'approved in https://example.com/1' },
  ],
  [
    'unapproved, a test',
    { status: 'False', reason: 'UnapprovedAnnotation', message: 'not approved: "unapproved, a test"' },
  ],
])('a definition in a protected group says that it is %s', async (approval, expected) => {
  await post(definition({ group: 'demo.k8s.io', annotations: { 'api-approved.kubernetes.io': approval } }))
  expect(await conditionOf('KubernetesAPIApprovalPolicyConformant', `${crds}/widgets.demo.k8s.io`)).toMatchObject(
    expected,
  )
})
