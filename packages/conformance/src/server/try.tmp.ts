import { evenkeelTarget } from './targets/evenkeel.ts'
import { serverSuite } from './cases/index.ts'
import { runCases } from './runner.ts'
const target = await evenkeelTarget()
const filter = process.argv[2] ?? ''
const results = await runCases(serverSuite.filter((c) => c.id.includes(filter)), target, { concurrency: 4 })
for (const r of results) if (r.outcome !== 'passed') console.log(r.outcome, r.id, '|', r.reason?.slice(0, Number(process.argv[3] ?? 300)))
console.log(results.filter((r) => r.outcome === 'passed').length, 'of', results.length)
await target.stop()
