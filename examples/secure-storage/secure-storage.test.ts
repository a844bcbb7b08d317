import { describe, expect, test } from 'vitest'
import { findCondition, isInvalid } from 'evenkeel'
import { startTestPlane } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { SeededRandom } from 'evenkeel/unstable/base'
import type { Clock } from 'evenkeel/unstable/base'
import { CloudInMemory } from './cloud/cloud-in-memory.ts'
import { farAway } from './cloud/far-away.ts'
import { secureStorages } from './controller.ts'
import { SecureStorage } from './kinds.ts'
import type { Cloud, SecureStorageObject } from './kinds.ts'
import { phases } from './phases.ts'

interface Setting {
  readonly plane: TestPlane
  readonly cloud: CloudInMemory
  /** The calls that change the cloud. */
  readonly calls: string[]
  looks: number
  isDown: boolean
}

/** A plane and a cloud on one simulated clock. */
async function start({ faultsPercent = 0, latencyMs = 0, seed = '1' } = {}): Promise<Setting> {
  const late: { plane?: TestPlane } = {}
  const clock: Clock = {
    now: () => late.plane?.clock.now() ?? 0,
    monotonic: () => late.plane?.clock.monotonic() ?? 0,
    after: (delayMs, callback) => late.plane?.clock.after(delayMs, callback) ?? (() => undefined),
    soon: (callback) => late.plane?.clock.soon(callback),
  }
  const cloud = new CloudInMemory(clock)
  const far = farAway(cloud, { clock, random: new SeededRandom(seed), latencyMs, faultsPercent })
  const setting = { cloud, calls: [] as string[], looks: 0, isDown: false }
  const counted = new Proxy(far, {
    get:
      (target, method: keyof Cloud) =>
      (name: string, ...rest: never[]): unknown => {
        if (setting.isDown) return Promise.reject(new Error('the cloud is down'))
        if (/^(?:find|list)/.test(method)) setting.looks++
        else setting.calls.push(method)
        return (target[method] as (...args: never[]) => unknown)(name as never, ...rest)
      },
  })
  const plane = (late.plane = await startTestPlane({
    controllers: [secureStorages(counted)],
    simulated: true,
  }))
  return Object.assign(setting, { plane })
}

const place = { name: 'photos', namespace: 'default' }
const read = ({ plane }: Setting): Promise<SecureStorageObject> => plane.client.get(SecureStorage, place)
const make = ({ plane }: Setting, key = 'key-1'): Promise<SecureStorageObject> =>
  plane.client.create(SecureStorage, { metadata: place, spec: { key } })
const held = ({ status }: SecureStorageObject): string[] =>
  phases.filter((phase) => findCondition(status?.conditions, phase)?.status === 'True')
const readyOf = async (setting: Setting): Promise<string | undefined> =>
  findCondition((await read(setting)).status?.conditions, 'Ready')?.status

/** Advances second by second. */
async function wait({ plane }: Setting, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let second = 0; second < 600; second++) {
    if (await isSo()) return
    await plane.advance(1_000)
  }
  throw new Error(`still false after ten minutes: ${isSo.toString()}`)
}

async function untilReady(setting: Setting): Promise<SecureStorageObject> {
  await wait(setting, async () => (await readyOf(setting)) === 'True')
  return read(setting)
}

async function untilGone(setting: Setting): Promise<void> {
  await wait(setting, async () => (await setting.plane.client.find(SecureStorage, place)) === undefined)
}

describe('SecureStorage: phases', () => {
  test('run in order, and each reports what it waits for', async () => {
    const setting = await start()
    await using plane = setting.plane
    await make(setting)
    await plane.until(async () => held(await read(setting)).length > 0)
    const waiting = await read(setting)
    expect(held(waiting)).toEqual(['AccountReady'])
    expect(findCondition(waiting.status?.conditions, 'IdentityReady')).toMatchObject({
      status: 'False',
      reason: 'Provisioning',
    })
    expect(findCondition(waiting.status?.conditions, 'Encrypted')).toMatchObject({
      status: 'False',
      reason: 'Waiting',
      message: 'after KeyAccessGranted',
    })
    expect(findCondition(waiting.status?.conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Provisioning',
    })
    const done = await untilReady(setting)
    expect(held(done)).toEqual(phases)
    expect(done.status).toMatchObject({ account: `storage-${done.metadata.uid}`, principalId: 'principal-1' })
    expect(setting.calls).toEqual(['createAccount', 'putGrant', 'encryptAccount'])
    // Two reads at creation, one every five seconds while it has no identity.
    expect(setting.looks).toBeLessThan(10)
  })

  test('are computed from the cloud: a lost status is restored, and no call is repeated', async () => {
    const setting = await start()
    await using plane = setting.plane
    await make(setting)
    const { status } = await untilReady(setting)
    await plane.client.patchStatus(await read(setting), { conditions: null, account: null, principalId: null })
    await plane.until(async () => (await read(setting)).status?.account !== undefined)
    const { status: again } = await untilReady(setting)
    const bare = (one: typeof status): unknown => ({
      ...one,
      conditions: one?.conditions?.map(({ lastTransitionTime: _, ...rest }) => rest),
    })
    expect(bare(again)).toEqual(bare(status))
    expect(setting.calls).toHaveLength(3)
  })

  test('are idle when all is done: reads, no writes', async () => {
    const setting = await start()
    await using plane = setting.plane
    await make(setting)
    const {
      metadata: { resourceVersion },
    } = await untilReady(setting)
    const { looks } = setting
    await plane.advance(3_600_000)
    expect((await read(setting)).metadata.resourceVersion).toBe(resourceVersion)
    expect(setting.calls).toHaveLength(3)
    // Every five minutes one read of the account and one of its keys.
    expect(setting.looks - looks).toBeLessThanOrEqual(2 * 13)
  })

  test('another key: grants access first, revokes the old key last', async () => {
    const setting = await start()
    await using plane = setting.plane
    await make(setting)
    const storage = await untilReady(setting)
    setting.calls.length = 0
    await plane.client.patch(storage, { spec: { key: 'key-2' } })
    await plane.until(() => setting.calls.length === 3)
    expect(setting.calls).toEqual(['putGrant', 'encryptAccount', 'deleteGrant'])
    expect([...setting.cloud.grants.values()].map(({ key }) => key)).toEqual(['key-2'])
  })

  test('an account that was deleted manually is created again, and its new identity gets access', async () => {
    const setting = await start()
    await using _ = setting.plane
    await make(setting)
    const storage = await untilReady(setting)
    setting.cloud.deleteAccount(`storage-${storage.metadata.uid}`)
    await wait(setting, async () => (await readyOf(setting)) === 'False')
    const { status } = await untilReady(setting)
    expect(status?.principalId).toBe('principal-2')
    expect([...setting.cloud.grants.values()]).toEqual([{ key: 'key-1', principalId: 'principal-2' }])
  })
})

describe('SecureStorage: cleanup', () => {
  test('runs in reverse order, and the object is removed after the account', async () => {
    const setting = await start()
    await using plane = setting.plane
    await make(setting)
    const storage = await untilReady(setting)
    setting.calls.length = 0
    await plane.client.delete(storage)
    await plane.until(() => setting.calls.includes('deleteAccount'))
    expect(setting.calls).toEqual(['encryptAccount', 'deleteGrant', 'deleteAccount'])
    const leaving = await read(setting)
    expect(leaving.metadata.finalizers).toEqual(['demo.example.com/account'])
    expect(findCondition(leaving.status?.conditions, 'Ready')?.status).not.toBe('True')
    await untilGone(setting)
    expect([setting.cloud.accounts.size, setting.cloud.grants.size]).toEqual([0, 0])
  })

  test('works before the identity exists', async () => {
    const setting = await start()
    await using plane = setting.plane
    const storage = await make(setting)
    await plane.until(() => setting.cloud.accounts.size === 1)
    await plane.client.delete(storage)
    await untilGone(setting)
    expect(setting.cloud.accounts.size).toBe(0)
  })

  test('a later object with the same name gets another account', async () => {
    const setting = await start()
    await using plane = setting.plane
    await make(setting)
    const first = await untilReady(setting)
    await plane.client.delete(first)
    await untilGone(setting)
    await make(setting)
    expect((await untilReady(setting)).status?.account).not.toBe(first.status?.account)
  })
})

describe('SecureStorage: an unreliable cloud', () => {
  for (const seed of ['1', '2', '3', '4', '5']) {
    test(`with latency and every third call failing it is created, changed and deleted (seed ${seed})`, async () => {
      const setting = await start({ latencyMs: 400, faultsPercent: 33, seed })
      await using plane = setting.plane
      const storage = await make(setting)
      await untilReady(setting)
      await plane.client.patch(storage, { spec: { key: 'key-2' } })
      await wait(setting, () => [...setting.cloud.grants.values()].every(({ key }) => key === 'key-2'))
      expect([...setting.cloud.accounts.values()]).toMatchObject([{ encryptedWith: 'key-2' }])
      await plane.client.delete(await read(setting))
      await untilGone(setting)
      expect([setting.cloud.accounts.size, setting.cloud.grants.size]).toEqual([0, 0])
    })
  }

  test('an outage is reported, and its end is noticed', async () => {
    const setting = await start()
    await using plane = setting.plane
    setting.isDown = true
    await make(setting)
    await plane.until(async () => (await readyOf(setting)) === 'Unknown')
    expect(findCondition((await read(setting)).status?.conditions, 'Ready')).toMatchObject({
      reason: 'CloudFailed',
      message: 'the cloud is down',
    })
    setting.isDown = false
    await untilReady(setting)
  })

  test('rejects a move to another region', async () => {
    const setting = await start()
    await using plane = setting.plane
    const storage = await make(setting)
    await expect(plane.client.patch(storage, { spec: { region: 'south' } })).rejects.toSatisfy(isInvalid)
  })
})
