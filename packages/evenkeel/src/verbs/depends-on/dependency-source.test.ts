import { describe, expect, test } from 'vitest'
import { forbidden, notFound, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { FollowedDependencies } from './dependency-source.ts'
import { dependsOn, type DependsOnOptions } from './depends-on.ts'
import { shortHash } from '../digest.ts'
import { App, app, Route, route, TestInformers } from './informers.fixture.ts'
import { refKey, refOf } from './reference.ts'

const AppV2 = { apiVersion: 'app.test.dev/v2', kind: 'App' }
function started(
  choice: typeof App | 'any',
  options: DependsOnOptions<never> = {},
): { informers: TestInformers; followed: FollowedDependencies } {
  const informers = new TestInformers()
  const verb = dependsOn(choice as typeof App, ({ spec }: ReturnType<typeof route>) => spec.to, options as never)
  const parts = verb.adds?.({ for: Route, verbs: [verb] } as unknown as ControllerDeclaration)
  return { informers, followed: parts?.sources?.[0]?.start(informers.context) as FollowedDependencies }
}

describe('the source of dependsOn', () => {
  test('has synced when the referers are listed, and each kind is listed or cannot be', () => {
    const { informers, followed } = started(App)
    const [routes, apps] = [informers.of(Route), informers.of(App)]
    expect(followed.hasSynced).toBe(true)
    routes.hasSynced = false
    expect(followed.hasSynced).toBe(false)
    routes.hasSynced = true
    apps.hasSynced = false
    expect(followed.hasSynced).toBe(false)
    apps.states = { all: { phase: 'parked', error: notFound({ kind: 'App', name: '' }) } }
    expect(followed.hasSynced).toBe(true)
  })

  test('has the problem of a kind that may not be read, and none while a kind is only missing', () => {
    const { informers, followed } = started(App)
    const apps = informers.of(App)
    expect(followed.problem).toBeUndefined()
    apps.hasSynced = false
    apps.states = { all: { phase: 'waiting', error: forbidden(undefined, 'not for you') } }
    expect(followed.problem).toBe('depends on App: forbidden: not for you')
    apps.states = { all: { phase: 'parked', error: notFound({ kind: 'App', name: '' }) } }
    expect(followed.problem).toBeUndefined()
  })

  test('follows another version of a kind when its own is no longer served', async () => {
    const { informers, followed } = started('any')
    const served = { ...App, namespaced: true, verbs: ['list', 'watch'] }
    let apiVersion = App.apiVersion
    const client = { resources: () => Promise.resolve([{ ...served, apiVersion }]) } as never
    const choice = { group: App.group, kind: App.kind }
    const first = await followed.kindOf(choice, { client })
    expect(await followed.kindOf(choice, { client })).toBe(first)
    apiVersion = AppV2.apiVersion
    informers.of(App).states = { all: { phase: 'parked', error: notFound({ kind: 'App', name: '' }) } }
    await informers.clock.advance(5000)
    expect((await followed.kindOf(choice, { client }))?.type.apiVersion).toBe(AppV2.apiVersion)
    expect(followed.kinds.map(({ type }) => type.apiVersion)).toEqual([AppV2.apiVersion])
    await informers.clock.advance(0)
    expect(informers.of(App).released).toBe(2)
  })

  test('leaves a kind with the last reference to it, and follows it anew with the next', async () => {
    const { informers, followed } = started('any')
    const client = {
      resources: () => Promise.resolve([{ ...App, namespaced: true, verbs: ['list', 'watch'] }]),
    } as never
    const choice = { group: App.group, kind: App.kind }
    const routes = informers.of(Route)
    const [one, two] = [route('one', { ...choice, name: 'web' }), route('two', { ...choice, name: 'web' })]
    routes.objects.push(two)
    const first = await followed.kindOf(choice, { client })
    routes.send(one)
    expect(followed.kinds).toEqual([first])
    routes.objects.length = 0
    routes.send(two)
    expect(followed.kinds).toEqual([])
    expect(await followed.kindOf(choice, { client })).not.toBe(first)
  })

  test('runs the referers of a changed object, and for a lost annotation only the one that it names', () => {
    const { informers } = started(App, { annotate: true })
    const referers = [route('one', { name: 'web' }), route('two', { name: 'web' }), route('three', { name: 'other' })]
    informers.of(Route).objects.push(...referers)
    const enqueuedFor = (old: KubeObject, object: KubeObject): readonly string[] => {
      informers.of(App).send(old, object)
      return informers.enqueued.splice(0)
    }
    const marks = Object.fromEntries(referers.slice(0, 2).map((one) => [markOf(one), 'x']))
    const annotated = app({ annotations: marks })
    expect(enqueuedFor(app(), app({ resourceVersion: '2', labels: { a: 'b' } }))).toEqual(['one', 'two'])
    expect(enqueuedFor(app(), app({ resourceVersion: '2', annotations: marks }))).toEqual([])
    const [, second = ''] = Object.keys(marks)
    expect(enqueuedFor(annotated, app({ resourceVersion: '2', annotations: { [second]: 'x' } }))).toEqual(['one'])
  })
})

/** The annotation of a referer on what it depends on. */
function markOf(referer: KubeObject): string {
  return `used-by.route.test.dev/${shortHash(refKey(refOf(referer)))}`
}
