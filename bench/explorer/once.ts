/**
 * One exploration of the tutorial, in a process of its own: prints what it took as a line of JSON.
 */
import { explore } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import { fixed } from '../../examples/finalizer/fixed.ts'
import { scenario } from '../../examples/finalizer/scenario.ts'

const clock = new SystemClock()
const rounds = Number(process.argv[2] ?? 3)
for (let round = 0; round < rounds; round++) {
  const [startedAt, cpu] = [clock.monotonic(), process.cpuUsage()]
  const { schedules, failures } = await explore({ controllers: fixed, scenario })
  const ms = clock.monotonic() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  process.stdout.write(`${JSON.stringify({ schedules, failures: failures.length, ms, perSecond: schedules / ms * 1000, cpuMs: (user + system) / 1000 / schedules })}\n`)
}
