import { explore, formatReport } from 'evenkeel/testing'
import { steps } from '/work/main/examples/shapes/steps/all.ts'
import { scenario } from '/work/main/examples/shapes/scenario.ts'
const which = process.argv.slice(2).map(Number)
for (const n of which) {
  const step = steps.find((s) => s.number === n)!
  const t = process.cpuUsage()
  const r = await explore({ controllers: step.controllers as never, scenario: scenario as never })
  const c = process.cpuUsage(t)
  console.log('STEP', n, 'schedules', r.schedules, 'failures', r.failures.length, JSON.stringify([...new Set(r.failures.map((f) => f.rule))]), 'cpu', (c.user + c.system) / 1e6)
  if (process.env.V) console.log(formatReport(r).slice(0, Number(process.env.V)))
}
