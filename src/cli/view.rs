//! Arguments of `envtax view`.

use std::path::PathBuf;

use clap::Args;

use super::values::path;

#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Folder with run files
    #[arg(value_name = "DIR", default_value = ".", value_parser = path)]
    pub folder: PathBuf,
    /// Port of 127.0.0.1 to listen on; 0 takes one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Language of the pages: en or ja [default: that of the locale, or en]
    #[arg(long, value_name = "LANG")]
    pub lang: Option<String>,
}
