/**
 * `npm run judge`: runs Kubernetes' own test programs, which the caller provides, against a fresh server.
 *
 * Prints a table: how many tests passed, which failures are known differences, and which are findings. Exits with 1 when
 * there is a finding. Nothing of the programs is part of this repository.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { suiteNames, type SuiteName } from '@evenkeel/conformance/suites'
import { knownDifferences } from './known.ts'
import { countResults, formatTable, judgeResults } from './result.ts'
import { suites } from './suites.ts'

const help = `npm run judge -- SUITE --binary PATH [options]

  SUITE         e2e | cmd | apiextensions | apply | cel | admissionwebhook | client
  --binary PATH the test program: e2e.test for e2e, kubectl for cmd, a Go test program for the others
  --tree FOLDER a source tree of Kubernetes: test/cmd and hack for cmd, the data of tests for the others
  --controller-manager PATH
                kube-controller-manager beside the plane, for the functions of cmd about workloads
  --focus TEXT  only tests that match this regular expression
  --skip TEXT   not those that match this one
  --flag TEXT   a flag for the servers: of evenkeel serve for e2e and cmd, of kube-apiserver for apiextensions; can be
                repeated. The other suites have flags of their own
  --json        the results as JSON
  --quiet       without the output of the program
  --help

How to build the programs, and what to change first in those that start a kube-apiserver: docs/guides/judge.md
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: 'string' },
    tree: { type: 'string' },
    'controller-manager': { type: 'string' },
    focus: { type: 'string' },
    skip: { type: 'string' },
    flag: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
process.exitCode = await main()

async function main(): Promise<number> {
  const suite = suiteNames.find((name) => name === positionals[0])
  const mistake = mistakeOf(suite)
  if (values.help || mistake !== undefined || !suite) {
    process.stderr.write(values.help ? help : `Error: ${mistake}\n\n${help}`)
    return values.help ? 0 : 2
  }
  return judge(suite, resolve(values.binary ?? ''))
}

function mistakeOf(suite: SuiteName | undefined): string | undefined {
  if (suite === undefined) return `name a suite: ${suiteNames.join(', ')}`
  if (values.binary === undefined) return 'give the test program with --binary PATH'
  if (!existsSync(values.binary)) return `there is no file ${values.binary}`
  if (suite === 'cmd' && !existsSync(`${values.tree ?? ''}/test/cmd`))
    return 'cmd needs --tree FOLDER: a source tree of Kubernetes with test/cmd'
  const manager = values['controller-manager']
  if (manager !== undefined && !existsSync(manager)) return `there is no file ${manager}`
  return undefined
}

async function judge(suite: SuiteName, binary: string): Promise<number> {
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'])
    process.once(name, () => {
      interrupted.abort()
    })
  const { tree, focus, skip, 'controller-manager': controllerManager } = values
  const results = await suites[suite]({
    binary,
    flags: values.flag,
    tree: resolved(tree),
    controllerManager: resolved(controllerManager),
    focus,
    skip,
    signal: interrupted.signal,
    ...(!values.quiet && {
      onLine: (line: string) => {
        process.stderr.write(`${line}\n`)
      },
    }),
  })
  const judged = judgeResults(suite, results, knownDifferences)
  const counts = countResults(judged)
  process.stdout.write(
    values.json ? `${JSON.stringify({ suite, ...counts, results: judged })}\n` : formatTable(suite, judged),
  )
  return counts.findings > 0 || counts.ran === 0 ? 1 : 0
}

function resolved(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path)
}
