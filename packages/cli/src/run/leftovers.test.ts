/** What an earlier run has left, on a machine where its processes are gone. */
import { systemTable } from '@evenkeel/workloads'
import { connect } from 'evenkeel/client'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { takeLeftovers, withoutDoubt } from './leftovers.ts'
import { startWorkloads, type WorkloadsFolder } from './run.fixture.ts'
import { readWorkloads } from './workload-lookup.ts'

let world: WorkloadsFolder
beforeAll(async () => {
  world = await startWorkloads()
  await world.apply({
    web: { command: ['serve', 'web'] },
    job: { command: ['exit', '0', '1'], restart: { policy: 'Never' } },
    waits: { command: ['serve'], dependsOn: [{ name: 'nothing' }] },
  })
  await world.type(['wait', 'web', '--for=Ready', '--timeout', '60s'])
  await world.type(['wait', 'job', '--for=Completed', '--timeout', '60s'])
})
afterAll(() => world.stop())

test('a status of an earlier run does not count: what is gone is doubtful, what has finished runs again', async () => {
  const client = await connect({ kubeconfig: join(world.folder, 'data', 'kubeconfig') })
  const signal = new AbortController().signal
  // The processes are those of a simulated machine: on this one they do not exist.
  const doubtful = await takeLeftovers(client, { namespace: 'default', signal, workloads: { systemTable } })
  const rows = await readWorkloads(client, { namespace: 'default', signal })
  const nameOf = (uid: string): string | undefined => rows.find((row) => row.uid === uid)?.name
  expect([...doubtful.keys()].map(nameOf).toSorted()).toEqual(['job', 'web'])
  const web = rows.find(({ name }) => name === 'web')
  expect(web).toMatchObject({ phase: 'Running', isSettled: true })
  expect(web && withoutDoubt(web, doubtful)).toMatchObject({ phase: 'Pending', isSettled: false, pid: undefined })
  expect(web && withoutDoubt({ ...web, resourceVersion: 'next' }, doubtful)).toMatchObject({ isSettled: true })
  expect(await world.type(['wait', 'job', '--for=jsonpath={.status.run.number}=2', '--timeout', '60s'])).toMatchObject({
    code: 0,
  })
  await client.close()
})
