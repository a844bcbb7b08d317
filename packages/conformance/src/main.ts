/**
 * `npm run conformance -- SUITE [options]`: one command, several suites.
 *
 * A suite parses its own options; this file only decides which suite is loaded.
 */

const suites: Readonly<Record<string, { about: string; run(): Promise<unknown> }>> = {
  server: { about: 'an API server: ours, or one that a kubeconfig names', run: () => import('./server/main.ts') },
  cel: { about: 'expressions, on the public conformance data of CEL', run: () => import('./cel/main.ts') },
}

const help = `npm run conformance -- SUITE [options]

  ${Object.entries(suites)
    .map(([name, { about }]) => `${name.padEnd(8)} ${about}`)
    .join('\n  ')}

  --help   this text, or after the name of a suite its options
`

const [name = ''] = process.argv.slice(2)
if (Object.hasOwn(suites, name)) await suites[name]?.run()
else if (name === '--help') process.stdout.write(help)
else {
  process.stderr.write(`${name === '' || name.startsWith('-') ? 'name a suite' : `unknown suite ${name}`}\n\n${help}`)
  process.exitCode = 2
}
