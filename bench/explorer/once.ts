/** One exploration of the tutorial's scenario, as a process of its own on the built package: prints a line of JSON for each round. */
import { explore } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import { fixed } from '../../examples/finalizer/fixed.ts'
import { scenario } from '../../examples/finalizer/scenario.ts'

const clock = new SystemClock()
const [rounds = '1', tier = '1'] = process.argv.slice(2)

for (let round = 0; round < Number(rounds); round++) {
  const [startedAt, cpu] = [clock.monotonic(), process.cpuUsage()]
  const { schedules } = await explore({ controllers: fixed, scenario, tier: Number(tier) as 0 | 1 })
  const ms = clock.monotonic() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  console.log(
    JSON.stringify({ perSecond: (schedules / ms) * 1000, cpuMs: (user + system) / 1000 / schedules, ms, schedules }),
  )
}
