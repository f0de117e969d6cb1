import { defineConfig } from 'vitepress';

const guide = [
  { text: 'Concepts', link: '/concepts' },
  { text: 'Outcomes', link: '/outcomes' },
  { text: 'Failures', link: '/failures' },
  { text: 'Schemas', link: '/schemas' },
  { text: 'Retries', link: '/retries' },
  { text: 'Limits', link: '/limits' },
  { text: 'Pauses', link: '/pauses' },
  { text: 'Batches', link: '/batches' },
  { text: 'Order by key', link: '/order' },
  { text: 'Dead letters', link: '/dead-letters' },
  { text: 'Testing', link: '/testing' },
];

const operating = [
  { text: 'Operations', link: '/operations' },
  { text: 'Reliability', link: '/reliability' },
  { text: 'Console', link: '/console' },
  { text: 'Observability', link: '/observability' },
  { text: 'Topology', link: '/topology' },
  { text: 'Troubleshooting', link: '/troubleshooting' },
  { text: 'RabbitMQ versions', link: '/rabbitmq-versions' },
];

const migration = [
  { text: 'From golevelup', link: '/migration-golevelup' },
  { text: 'To a quorum queue', link: '/quorum-migration' },
];

const reference = [
  { text: 'Options', link: '/options' },
  { text: 'Configuration', link: '/configuration' },
  { text: 'API', link: '/api/' },
];

const internals = [
  { text: 'Architecture', link: '/architecture' },
  { text: 'Benchmarks', link: '/benchmark' },
  { text: 'Cost of a delivery', link: '/cost' },
];

export default defineConfig({
  title: 'nestjs-settle',
  description: 'Reliable RabbitMQ consumers for NestJS',
  lang: 'en',
  cleanUrls: true,
  srcExclude: ['node_modules/**'],
  outDir: './.vitepress/dist',
  // Links to files of the repository outside of the docs; a test of the repository checks them.
  ignoreDeadLinks: [/^\.?\/?\.\.\//],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/concepts' },
      { text: 'Operations', link: '/operations' },
      { text: 'Options', link: '/options' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [
      { text: 'Guide', items: guide },
      { text: 'Operations', items: operating },
      { text: 'Migration', items: migration },
      { text: 'Reference', items: reference },
      { text: 'Internals', items: internals },
    ],
  },
});
