/** W34: processes that end with another process, on a simulated machine. */
import { describe, expect, test } from 'vitest'
import { conditionOf, isReady, phaseIs, startSimulated, type SimulatedPlane } from './plane.fixture.ts'

const commandsOf = ({ host }: SimulatedPlane): string[] => host.processes().map(({ command }) => command)

/** A machine with a program that owns others: pid and start time. */
async function startWithOwner() {
  const world = await startSimulated()
  await world.create('editor', { command: ['stubborn'], restart: { policy: 'Never' } })
  await world.until('editor', isReady)
  const { pid, startTicks } = await world.identityOf('editor')
  const own = (owner: object = { pid, startTicks }) => ({ command: ['serve'], lifetime: 'Owner', owner })
  return { world, pid, startTicks, own }
}

describe('W34: a Process with an owner', () => {
  test('ends with it, says why, and is not started again', async () => {
    const { world, pid, own } = await startWithOwner()
    await world.create('helper', own())
    await world.until('helper', isReady)
    await world.plane.advance(60_000)
    expect(commandsOf(world)).toEqual(['stubborn', 'serve'])
    world.host.exit(pid, { exitCode: 0 })
    const ended = await world.until('helper', phaseIs('Stopped'))
    expect(conditionOf(ended, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'OwnerGone',
      message: `its owner, process ${pid}, is gone: it has ended, or another process has its pid now`,
    })
    expect(await world.events('helper')).toContainEqual({
      reason: 'Stopping',
      note: `run 1 is stopped: its owner, process ${pid}, is gone: it has ended, or another process has its pid now`,
    })
    await world.plane.advance(3_600_000)
    expect(commandsOf(world)).toEqual([])
  })

  test.each([
    ['with the start time in the spec', true],
    ['with the pid alone', false],
  ])('ends when another process has the pid of the owner, which is not signalled: %s', async (_, hasTicks) => {
    const { world, pid, own } = await startWithOwner()
    await world.create('helper', hasTicks ? own() : own({ pid }))
    await world.until('helper', isReady)
    world.host.takePid(pid)
    await world.until('helper', phaseIs('Stopped'))
    await world.plane.advance(60_000)
    expect(commandsOf(world)).toEqual(['stranger'])
    expect(world.host.signalsOf(pid)).toEqual([])
  })

  test('is not started when the owner is gone, also when its pid is taken later, until the spec names another one', async () => {
    const { world, pid, startTicks, own } = await startWithOwner()
    await world.create('helper', own({ pid: 4 }))
    await world.create('late', own({ pid, startTicks: startTicks + 1 }))
    expect((await world.until('helper', phaseIs('Stopped'))).status).toMatchObject({ ownerIdentity: '4-gone' })
    await world.until('late', phaseIs('Stopped'))
    world.host.takePid(4)
    await world.act('helper', 'restart')
    await world.plane.advance(60_000)
    expect(commandsOf(world)).toEqual(['stubborn', 'stranger'])
    await world.patch('helper', { owner: { pid } })
    await world.until('helper', isReady)
    expect(commandsOf(world)).toEqual(['stubborn', 'stranger', 'serve'])
  })

  test.each([
    [{ lifetime: 'Owner' }, 'lifetime Owner and owner belong together'],
    [{ owner: { pid: 1 } }, 'lifetime Owner and owner belong together'],
    [{ lifetime: 'Owner', owner: { pid: 0 } }, 'spec.owner.pid'],
  ])('A.4: %j is refused', async (spec, says) => {
    const world = await startSimulated()
    await expect(world.create('helper', { command: ['serve'], ...spec })).rejects.toThrow(says)
  })
})
