import { explore, formatReport } from 'evenkeel/testing'
import { controllers, scenario } from './scenario.ts'
const t = process.cpuUsage()
const n = Number(process.env['N'] ?? 1e9)
const steps = process.env['STEPS']?.split(',').map(Number)
const r = await explore({ controllers: controllers as never, scenario: { ...scenario, ...steps && { steps: steps.map((i) => scenario.steps[i]!) } } as never, schedulesMax: n, stories: 8 })
const c = process.cpuUsage(t)
console.log('schedules', r.schedules, 'left', r.left, 'failures', r.failures.length, JSON.stringify([...new Set(r.failures.map((f) => f.rule))]), 'cpu', (c.user + c.system) / 1e6)
console.log(formatReport(r).slice(0, Number(process.env['V'] ?? 4000)))
