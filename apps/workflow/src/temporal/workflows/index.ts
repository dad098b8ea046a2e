export * from './await-approval';
