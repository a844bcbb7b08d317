import { evenkeelTarget } from './server/targets/evenkeel.ts'
import { serverSuite } from './server/cases/index.ts'
import { runCases } from './server/runner.ts'
import { createLogger, prettyLines } from 'evenkeel/unstable/base'
const filter = process.argv[2] ?? ''
const target = await evenkeelTarget({ log: createLogger({ write: prettyLines({ write: (t: string) => process.stderr.write(t) } as never) } as never) } as never).catch(() => evenkeelTarget({}))
const r = await runCases(serverSuite.filter((c) => c.id.includes(filter)), target, { concurrency: Number(process.argv[3] ?? 8), onResult: (x) => { if (x.outcome === 'failed') console.log('FAILED', x.id, x.reason?.slice(0, 500)) } })
console.log(r.filter((x) => x.outcome === 'passed').length, 'passed of', r.length)
process.exit(0)
