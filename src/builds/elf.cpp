#include "builds/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <functional>
#include <gelf.h>
#include <libelf.h>
#include <memory>
#include <sstream>
#include <unistd.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

namespace fs = std::filesystem;

std::string machine_name(GElf_Half machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_PPC64:
      return "ppc64le";
    case EM_S390:
      return "s390x";
    default:
      return fmt::format("machine {}", machine);
  }
}

/// An open ELF file, closed with the object.
class Reader {
 public:
  explicit Reader(const fs::path& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    ::elf_version(EV_CURRENT);
    if (fd_ >= 0) {
      elf_.reset(::elf_begin(fd_, ELF_C_READ_MMAP, nullptr));
    }
    if (elf_ == nullptr || ::elf_kind(elf_.get()) != ELF_K_ELF ||
        ::gelf_getehdr(elf_.get(), &header_) == nullptr) {
      elf_.reset();
      if (fd_ >= 0) {
        ::close(fd_);
      }
      throw trouble(fmt::format("{}: not a shared library (no ELF header)", path.string()));
    }
  }
  ~Reader() {
    elf_.reset();
    ::close(fd_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const GElf_Ehdr& header() const { return header_; }

  /// Calls `visit` with each section of that type and its data.
  void sections(GElf_Word type,
                const std::function<void(const GElf_Shdr&, Elf_Data&)>& visit) const {
    bool any = false;
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_.get(), section)) != nullptr;) {
      any = true;
      GElf_Shdr header;
      if (::gelf_getshdr(section, &header) == nullptr) {
        damaged();
      }
      if (header.sh_type != type) {
        continue;
      }
      Elf_Data* data = ::elf_getdata(section, nullptr);
      if (data == nullptr) {
        damaged();
      }
      visit(header, *data);
    }
    if (!any) {  // a truncated file: its section table lay at its end
      damaged();
    }
  }

  std::string string(std::size_t table, std::size_t offset) const {
    const char* text = ::elf_strptr(elf_.get(), table, offset);
    if (text == nullptr) {
      damaged();
    }
    return text;
  }

  [[noreturn]] void damaged() const {
    throw trouble(fmt::format("{}: a damaged or truncated shared library", path_.string()));
  }

 private:
  struct End {
    void operator()(Elf* elf) const { ::elf_end(elf); }
  };

  fs::path path_;
  int fd_;
  std::unique_ptr<Elf, End> elf_;
  GElf_Ehdr header_{};
};

void read_dynamic(const Reader& reader, ElfFile& file) {
  reader.sections(SHT_DYNAMIC, [&](const GElf_Shdr& header, Elf_Data& data) {
    const auto count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (::gelf_getdyn(&data, static_cast<int>(i), &entry) == nullptr) {
        reader.damaged();
      }
      if (entry.d_tag == DT_NULL) {
        break;
      }
      if (entry.d_tag == DT_NEEDED) {
        file.needed.push_back(reader.string(header.sh_link, entry.d_un.d_val));
      } else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) {
        std::istringstream paths(reader.string(header.sh_link, entry.d_un.d_val));
        for (std::string path; std::getline(paths, path, ':');) {
          file.run_paths.push_back(path);
        }
      }
    }
  });
}

std::string build_id(const Reader& reader) {
  std::string id;
  reader.sections(SHT_NOTE, [&](const GElf_Shdr&, Elf_Data& data) {
    GElf_Nhdr note;
    std::size_t name = 0;
    std::size_t descriptor = 0;
    for (std::size_t at = 0; (at = ::gelf_getnote(&data, at, &note, &name, &descriptor)) > 0;) {
      const char* bytes = static_cast<const char*>(data.d_buf);
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
          std::string_view(bytes + name, 3) != "GNU" || !id.empty()) {
        continue;
      }
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        id += fmt::format("{:02x}", static_cast<unsigned char>(bytes[descriptor + i]));
      }
    }
  });
  return id;
}

}  // namespace

ElfFile read_elf(const fs::path& path) {
  const Reader reader(path);
  ElfFile file;
  file.machine = machine_name(reader.header().e_machine);
  read_dynamic(reader, file);
  file.build_id = build_id(reader);
  return file;
}

std::vector<std::string> dynamic_symbols(const fs::path& path, std::string_view prefix) {
  const Reader reader(path);
  std::vector<std::string> names;
  reader.sections(SHT_DYNSYM, [&](const GElf_Shdr& header, Elf_Data& data) {
    const auto count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (::gelf_getsym(&data, static_cast<int>(i), &symbol) == nullptr) {
        reader.damaged();
      }
      if (symbol.st_shndx == SHN_UNDEF) {
        continue;
      }
      std::string name = reader.string(header.sh_link, symbol.st_name);
      if (name.starts_with(prefix)) {
        names.push_back(std::move(name));
      }
    }
  });
  return names;
}

std::string host_machine() {
  static const std::string machine = read_elf("/proc/self/exe").machine;
  return machine;
}

}  // namespace drift
