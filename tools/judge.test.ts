import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { kubernetesSuites, suiteNames } from '@evenkeel/conformance/suites'
import { knownDifferences } from './judge/known.ts'
import { parseGinkgoReport, parseGoTests } from './judge/parse.ts'
import { countResults, formatTable, judgeResults } from './judge/result.ts'

describe('parseGinkgoReport', () => {
  test('names specs by their containers, and leaves out what the focus left out', () => {
    const report = [
      {
        SpecReports: [
          { LeafNodeType: 'SynchronizedBeforeSuite', State: 'passed' },
          {
            LeafNodeType: 'It',
            ContainerHierarchyTexts: ['[api]', 'Watchers'],
            LeafNodeText: 'see all',
            State: 'passed',
          },
          { LeafNodeType: 'It', ContainerHierarchyTexts: null, LeafNodeText: 'left out', State: 'skipped' },
          {
            LeafNodeType: 'It',
            ContainerHierarchyTexts: ['[api]'],
            LeafNodeText: 'fails',
            State: 'failed',
            Failure: { Message: 'expected 1' },
          },
          { LeafNodeType: 'SynchronizedBeforeSuite', State: 'failed', Failure: { Message: 'no nodes' } },
        ],
      },
    ]
    expect(parseGinkgoReport(JSON.stringify(report))).toEqual([
      { name: '[api] Watchers see all', verdict: 'passed' },
      { name: '[api] fails', verdict: 'failed', message: 'expected 1' },
      { name: 'SynchronizedBeforeSuite', verdict: 'failed', message: 'no nodes' },
    ])
  })
})

describe('parseGoTests', () => {
  test('reads top-level tests with the lines before a failure', () => {
    const output = [
      '=== RUN   TestOne',
      '=== RUN   TestOne/part',
      '    --- PASS: TestOne/part (0.00s)',
      '--- PASS: TestOne (0.01s)',
      '=== RUN   TestTwo',
      '    two_test.go:7: got 2',
      '--- FAIL: TestTwo (0.01s)',
      '=== RUN   TestThree',
      '--- SKIP: TestThree (0.00s)',
      '=== RUN   TestFour',
      'panic: out of memory',
    ].join('\n')
    expect(parseGoTests(output)).toEqual([
      { name: 'TestOne', verdict: 'passed' },
      { name: 'TestTwo', verdict: 'failed', message: '    two_test.go:7: got 2' },
      { name: 'TestThree', verdict: 'skipped' },
      { name: 'TestFour', verdict: 'failed', message: 'the program ended during this test' },
    ])
  })
})

describe('judgeResults', () => {
  const results = [
    { name: 'TestA', verdict: 'passed' },
    { name: 'TestB', verdict: 'failed', message: 'line 1\nline 2' },
    { name: 'TestC', verdict: 'failed', message: 'oops' },
    { name: 'TestD', verdict: 'skipped' },
  ] as const
  const known = [
    { suite: 'apply', test: /TestB/, reason: 'on purpose' },
    { suite: 'e2e', test: /TestC/, reason: 'of another suite' },
  ] as const

  test('tells known differences from findings, by suite', () => {
    const judged = judgeResults('apply', results, known)
    expect(countResults(judged)).toEqual({ ran: 3, passed: 1, known: 1, findings: 1, skipped: 1 })
    const table = formatTable('apply', judged)
    expect(table).toMatch(/^apply +3 +1 +1 +1 +1$/m)
    expect(table).toContain('known    TestB\n         on purpose')
    expect(table).toContain('FINDING  TestC\n         oops')
  })

  test('a test that passes again is not known', () => {
    expect(judgeResults('apply', [{ name: 'TestB', verdict: 'passed' }], known)[0]).not.toHaveProperty('known')
  })
})

describe('known differences', () => {
  const page = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8')

  test('each has a reason that the compatibility page shows', () => {
    expect(knownDifferences.length).toBeGreaterThan(10)
    for (const { reason } of knownDifferences) {
      expect(reason.length).toBeGreaterThan(20)
      expect(page).toContain(reason)
    }
  })

  test('each matches whole names only', () => {
    expect(
      knownDifferences.some(({ suite, test: name }) => suite === 'apply' && name.test('TestCreateVeryLargeObject')),
    ).toBe(true)
    for (const { suite, test: name } of knownDifferences)
      expect(`${suite} ${name.test('TestSomethingElse')}`).toBe(`${suite} false`)
  })

  test('the failures of the last run are those that did not pass', () => {
    for (const suite of suiteNames) {
      const { ran, passed, failures } = kubernetesSuites[suite]
      expect(page).toContain(`| ${ran} | ${passed} |`)
      // Names of e2e are parts of names, and some are of tests that need another focus.
      const names = failures.flatMap(({ tests }) => tests)
      if (suite === 'e2e') expect(names.length).toBeGreaterThanOrEqual(ran - passed)
      else expect([suite, names.length]).toEqual([suite, ran - passed])
    }
  })
})
